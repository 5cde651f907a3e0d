package index

// playWorkloads are what games and communities ask.
var playWorkloads = []realWorkload{
	{
		name: "presents", // newest of one user that are not deleted, and one by its key
		schema: []string{
			"CREATE TABLE presents (id BIGINT PRIMARY KEY, user_id BIGINT, sent_at BIGINT, item_type INT, deleted_at BIGINT NULL)",
			"INSERT INTO presents SELECT seq, CRC32(seq) % 300, 1600000000 + CRC32(seq*3) % 900000, CRC32(seq*5) % 8, IF(CRC32(seq*7) % 5 = 0, 1600000000, NULL) FROM seq_1_to_5000",
			"CREATE TABLE received (id BIGINT PRIMARY KEY, user_id BIGINT, present_all_id BIGINT, received_at BIGINT)",
			"INSERT INTO received SELECT seq, CRC32(seq*11) % 400, CRC32(seq*13) % 40, 1600000000 + seq FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(900, "SELECT * FROM presents WHERE user_id = $ AND deleted_at IS NULL ORDER BY sent_at DESC, id LIMIT 100", 3, 250),
			each(900, "SELECT * FROM received WHERE user_id = $ AND present_all_id = 7", 3, 250),
			writing(1, each(90, "INSERT INTO received (id, user_id, present_all_id, received_at) VALUES (900000 + $, 5, 6, 7)", 1, 2)),
		},
		columns: map[string][]string{"presents": {"user_id", "deleted_at", "sent_at"}, "received": {"user_id", "present_all_id"}},
	},
	{
		name: "tokens", // one live token of a user
		schema: []string{
			"CREATE TABLE tokens (id BIGINT PRIMARY KEY, user_id BIGINT, token VARCHAR(128), token_type INT, expires_at BIGINT)",
			"INSERT INTO tokens SELECT seq, CRC32(seq) % 2000, MD5(seq), CRC32(seq*3) % 2, 1600000000 + seq FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(1000, "SELECT * FROM tokens WHERE token = MD5($) AND token_type = 1", 5, 4000),
			each(300, "UPDATE tokens SET expires_at = 5 WHERE user_id = $ AND token_type = 0", 5, 1500),
		},
		columns: map[string][]string{"tokens": {"token", "user_id", "token_type"}},
	},
	{
		name: "ranking", // best scores of a stage; one player's rank
		schema: []string{
			"CREATE TABLE scores (id INT PRIMARY KEY, stage_id INT, player_id INT, score INT, played_at DATETIME)",
			"INSERT INTO scores SELECT seq, CRC32(seq) % 25, CRC32(seq*3) % 700, CRC32(seq*5) % 100000, '2024-01-01' + INTERVAL seq SECOND FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(800, "SELECT player_id, score FROM scores WHERE stage_id = $ ORDER BY score DESC LIMIT 10", 3, 20),
			each(400, "SELECT COUNT(*) FROM scores WHERE stage_id = $ AND score > 90000", 3, 20),
			each(200, "SELECT MAX(score) FROM scores WHERE player_id = $", 3, 600),
			writing(1, each(300, "INSERT INTO scores VALUES (900000 + $, 1, 2, 3, NOW())", 1, 2)),
		},
		columns: map[string][]string{"scores": {"stage_id", "player_id", "score"}},
	},
	{
		name: "timeline", // posts of those whom a user follows
		schema: []string{
			"CREATE TABLE follows (id INT PRIMARY KEY, follower_id INT, followee_id INT)",
			"INSERT INTO follows SELECT seq, CRC32(seq) % 500, CRC32(seq*3) % 400 FROM seq_1_to_4000",
			"CREATE TABLE notes (id INT PRIMARY KEY, user_id INT, created_at DATETIME, body VARCHAR(200))",
			"INSERT INTO notes SELECT seq, CRC32(seq*7) % 400, '2024-01-01' + INTERVAL CRC32(seq*11) % 900000 SECOND, REPEAT('n', 60) FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(600, "SELECT n.* FROM follows f JOIN notes n ON n.user_id = f.followee_id WHERE f.follower_id = $", 5, 400),
			each(300, "SELECT COUNT(*) FROM follows WHERE followee_id = $", 5, 300),
			each(300, "SELECT * FROM notes WHERE user_id = $ ORDER BY created_at DESC LIMIT 5", 5, 300),
		},
		columns: map[string][]string{"follows": {"follower_id", "followee_id"}, "notes": {"user_id", "created_at"}},
	},
	{
		name: "chat", // history of a room, unread messages
		schema: []string{
			"CREATE TABLE messages (id BIGINT PRIMARY KEY, room_id INT, sender_id INT, seen TINYINT, body VARCHAR(300))",
			"INSERT INTO messages SELECT seq, CRC32(seq) % 90, CRC32(seq*3) % 500, CRC32(seq*5) % 20 > 0, REPEAT('m', 70) FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(900, "SELECT * FROM messages WHERE room_id = $ AND id > 4900 ORDER BY id", 5, 80),
			each(500, "SELECT COUNT(*) FROM messages WHERE room_id = $ AND seen = 0", 5, 80),
			each(50, "UPDATE messages SET seen = 1 WHERE room_id = $ AND sender_id = 77", 5, 80),
		},
		columns: map[string][]string{"messages": {"room_id", "sender_id", "seen"}},
	},
	{
		name: "matches", // either side of a match
		schema: []string{
			"CREATE TABLE matches (id INT PRIMARY KEY, home_id INT, away_id INT, season INT, started_at DATETIME)",
			"INSERT INTO matches SELECT seq, CRC32(seq) % 300, CRC32(seq*3) % 300, 2000 + CRC32(seq*5) % 20, '2024-01-01' + INTERVAL seq MINUTE FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(500, "SELECT id FROM matches WHERE home_id = $ UNION SELECT id FROM matches WHERE away_id = $", 5, 250),
			each(300, "SELECT * FROM matches WHERE season = 20$ AND home_id = 17", 10, 15),
			each(100, "SELECT season, COUNT(*) FROM matches WHERE away_id = $ GROUP BY season", 5, 250),
		},
		columns: map[string][]string{"matches": {"home_id", "away_id", "season"}},
	},
}
