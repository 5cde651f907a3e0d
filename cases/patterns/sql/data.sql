INSERT INTO authors SELECT seq, CONCAT('Author ', seq), CONCAT('author', seq, '@example.org'), CONCAT('City ', seq % 7) FROM seq_1_to_50;
INSERT INTO posts SELECT seq, 51 - seq, CONCAT('Post ', seq) FROM seq_1_to_50;
INSERT INTO tags SELECT seq, CONCAT('tag', seq) FROM seq_1_to_50;
INSERT INTO notes SELECT seq, CONCAT('Note ', seq), 0 FROM seq_1_to_50;
INSERT INTO stock SELECT seq, 1000000 FROM seq_1_to_20;
INSERT INTO sequence VALUES (0);
