package main

import "context"

// report is the answer of GET /report.
type report struct {
	BannedIPs   []string `json:"banned_ips"`
	LockedUsers []string `json:"locked_users"`
}

func (s *server) makeReport(ctx context.Context) (report, error) {
	banned, err := s.bannedIPs(ctx)
	if err != nil {
		return report{}, err
	}
	locked, err := s.lockedUsers(ctx)
	return report{BannedIPs: banned, LockedUsers: locked}, err
}

// bannedIPs lists addresses with too many failures since their last success.
func (s *server) bannedIPs(ctx context.Context) ([]string, error) {
	return column[string](ctx, s,
		"SELECT l.ip FROM login_log l LEFT JOIN"+
			" (SELECT ip, MAX(id) AS last_id FROM login_log WHERE succeeded = 1 GROUP BY ip) s ON s.ip = l.ip"+
			" WHERE l.id > IFNULL(s.last_id, 0) GROUP BY l.ip HAVING COUNT(1) >= ? ORDER BY l.ip",
		s.settings.ipBanThreshold)
}

// lockedUsers lists logins with too many failures since their last success.
func (s *server) lockedUsers(ctx context.Context) ([]string, error) {
	ids, err := column[int64](ctx, s,
		"SELECT l.user_id FROM login_log l LEFT JOIN"+
			" (SELECT user_id, MAX(id) AS last_id FROM login_log WHERE succeeded = 1 GROUP BY user_id) s"+
			" ON s.user_id = l.user_id"+
			" WHERE l.user_id IS NOT NULL AND l.id > IFNULL(s.last_id, 0)"+
			" GROUP BY l.user_id HAVING COUNT(1) >= ? ORDER BY l.user_id",
		s.settings.userLockThreshold)
	if err != nil {
		return nil, err
	}
	logins := []string{}
	for _, id := range ids {
		u, err := s.userByID(ctx, id)
		if err != nil {
			return nil, err
		}
		if u != nil {
			logins = append(logins, u.Login)
		}
	}
	return logins, nil
}

// column reads the only column of a query; never nil without an error.
func column[T any](ctx context.Context, s *server, query string, args ...any) ([]T, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := []T{}
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}
