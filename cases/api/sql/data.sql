-- The same rows on every machine: @USERS@ users. How much a user has is skewed: of
-- N rows the one with the number i belongs to the user of rank N·h(i)^1.8, h even
-- between 0 and 1 (a density of rank^-0.44), and ranks are spread over the ids.
SET SESSION unique_checks = 0, foreign_key_checks = 0;
SET @from = UNIX_TIMESTAMP('2025-01-01'), @last = UNIX_TIMESTAMP('2025-12-01');
CREATE FUNCTION skewed(word VARCHAR(32)) RETURNS BIGINT DETERMINISTIC
    RETURN 1 + FLOOR(@USERS@ * POW(CONV(LEFT(MD5(word), 8), 16, 10) / 4294967296, 1.8)) * 7919 % @USERS@;

INSERT INTO users
SELECT seq, CONCAT('player', seq), CONCAT('device-', seq), 20000 + seq * 7919 % 20000, 600 + seq % 7 * 30, seq * 53 % 90000, @from + seq
FROM seq_1_to_@USERS@;
-- Six cards each, of which five are the deck, and more for who plays much.
INSERT INTO user_cards
SELECT seq, 1 + (seq - 1) DIV 6, 1 + seq * 7919 % 3000, 1 + seq % 20, @from + seq FROM seq_1_to_@BASE_CARDS@;
INSERT INTO user_cards
SELECT @BASE_CARDS@ + seq, skewed(CONCAT('c', seq)), 1 + seq * 6367 % 3000, 1, @from + seq FROM seq_1_to_@MORE_CARDS@;
INSERT INTO decks SELECT seq, seq * 6 - 5, seq * 6 - 4, seq * 6 - 3, seq * 6 - 2, seq * 6 - 1 FROM seq_1_to_@USERS@;
INSERT INTO user_items SELECT seq, 1 + seq % 200, 5 + seq % 30 FROM seq_1_to_@USERS@;
-- One present in five was received before.
INSERT INTO presents
SELECT seq, skewed(CONCAT('p', seq)), IF(seq % 4, 'coins', 'stones'), IF(seq % 4, 10 * (1 + seq % 9), 5),
       ELT(1 + seq % 3, 'Well done', 'Guild reward', 'A gift'), @from + seq, IF(seq % 5 = 3, @last, NULL)
FROM seq_1_to_@PRESENTS@;
INSERT INTO friends (id, user_id, friend_id, created_at)
SELECT 2 * seq - 1, 5 * seq, 5 * seq % @USERS@ + 1, @from FROM seq_1_to_@FIFTH@
UNION ALL SELECT 2 * seq, 5 * seq, (5 * seq + 1) % @USERS@ + 1, @from FROM seq_1_to_@FIFTH@;
INSERT IGNORE INTO friends (id, user_id, friend_id, created_at)
SELECT @USERS@ + seq, skewed(CONCAT('f', seq)), 1 + seq * 6367 % @USERS@, @from FROM seq_1_to_@USERS@;
INSERT INTO ledger SELECT seq, skewed(CONCAT('l', seq)), 'coins', 10 + seq % 90, 'play', @from + seq FROM seq_1_to_@PRESENTS@;
DROP FUNCTION skewed;
ALTER TABLE users AUTO_INCREMENT = 100000001;
ALTER TABLE user_cards AUTO_INCREMENT = 100000001;
ALTER TABLE presents AUTO_INCREMENT = 100000001;
ALTER TABLE friends AUTO_INCREMENT = 100000001;
ALTER TABLE ledger AUTO_INCREMENT = 100000001;
