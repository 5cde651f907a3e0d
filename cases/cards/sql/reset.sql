-- Back to the first state, by keys: whatever was made since has an id above
-- 100,000,000, and whoever changed anything has such a row.
SET SESSION innodb_lock_wait_timeout = 60;
CREATE TEMPORARY TABLE back (player_id BIGINT PRIMARY KEY) ENGINE = MEMORY SELECT player_id FROM books.touched;
START TRANSACTION;
UPDATE back t JOIN books.players b ON b.id = t.player_id JOIN players p ON p.id = b.id SET p.coins = b.coins;
UPDATE books.guild_battles b JOIN guild_battles g ON g.id = b.id SET g.points = b.points;
DELETE FROM deck_cards WHERE id > 100000000;
INSERT IGNORE INTO deck_cards
SELECT (t.player_id - 1) * 200 + s.seq, t.player_id, 1 + (s.seq - 1) DIV 25, 1 + (s.seq - 1) % 25, (t.player_id - 1) * 200 + s.seq FROM back t JOIN seq_1_to_200 s;
DELETE FROM user_cards WHERE id > 100000000;
DELETE FROM attack_cards WHERE id > 100000000;
DELETE FROM attacks WHERE id > 100000000;
DELETE FROM ledger WHERE id > 100000000;
COMMIT;
