-- One index per question that the application asks. InnoDB appends the primary
-- key, so "the last success of this user" is one step down the tree.
ALTER TABLE users ADD INDEX IF NOT EXISTS login (login);
ALTER TABLE login_log
    ADD INDEX IF NOT EXISTS user_succeeded (user_id, succeeded),
    ADD INDEX IF NOT EXISTS ip_succeeded (ip, succeeded);
ANALYZE TABLE users, login_log;
