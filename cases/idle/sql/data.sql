-- The same rows on every machine. @USERS@ users, @PRESENTS@ presents; whatever
-- is made later has an id above 100,000,000. How much a user has is skewed: of N
-- rows the one with the number i belongs to the user of rank N·h(i)^1.8, h even
-- between 0 and 1 (a density of rank^-0.44), and ranks are spread over the ids.
SET SESSION unique_checks = 0, foreign_key_checks = 0;
SET @from = UNIX_TIMESTAMP('2025-01-01'), @last = UNIX_TIMESTAMP('2025-12-01');

INSERT INTO id_generator VALUES (100000000);
INSERT INTO version_masters VALUES (1, 1, '1');
INSERT INTO admin_users VALUES (1, SHA2('admin:c0ffee123456', 256), 'c0ffee123456');

-- 1: coins; 2–31: gear; 101–112: material; 201–204: tickets.
INSERT INTO item_masters VALUES (1, 1, 'Coin', 0, 0, 0, 0, 0, 0);
INSERT INTO item_masters
SELECT 1 + seq, 2, CONCAT('Hammer ', seq), seq, 20 + seq, 20 * seq, 50, 0, 100 * seq FROM seq_1_to_30;
INSERT INTO item_masters SELECT 100 + seq, 3, CONCAT('Ore ', seq), 0, 0, 0, 0, 10 * seq, 0 FROM seq_1_to_12;
INSERT INTO item_masters SELECT 200 + seq, 4, CONCAT('Ticket ', seq), 0, 0, 0, 0, 0, 0 FROM seq_1_to_4;

INSERT INTO lottery_masters
SELECT seq, CONCAT('Lottery ', seq), 50 * seq, @from, @from + 10 * 365 * 86400 FROM seq_1_to_8;
INSERT INTO lottery_item_masters
SELECT l.seq * 100 + i.seq, l.seq,
       CASE WHEN i.seq <= 10 THEN 1 WHEN i.seq <= 25 THEN 2 WHEN i.seq <= 35 THEN 3 ELSE 4 END,
       CASE WHEN i.seq <= 10 THEN 1 WHEN i.seq <= 25 THEN i.seq - 9 WHEN i.seq <= 35 THEN 75 + i.seq ELSE 165 + i.seq END,
       CASE WHEN i.seq <= 10 THEN i.seq * 10 WHEN i.seq <= 25 THEN 1 ELSE 1 + i.seq % 5 END,
       1 + (40 - i.seq) * 3
FROM seq_1_to_8 l JOIN seq_1_to_38 i;

INSERT INTO login_bonus_masters VALUES (1, @from, @from + 10 * 365 * 86400, 20, 1), (2, @from, @from + 10 * 365 * 86400, 7, 0);
INSERT INTO login_bonus_reward_masters SELECT seq, 1, seq, 1, 1, 100 * seq FROM seq_1_to_20;
INSERT INTO login_bonus_reward_masters SELECT 100 + seq, 2, seq, 1, 1, 300 * seq FROM seq_1_to_7;
INSERT INTO present_all_masters VALUES
    (1, @from, @from + 10 * 365 * 86400, 1, 1, 500, 'A year of hammers'),
    (2, @from, @from + 10 * 365 * 86400, 3, 101, 3, 'Sorry for the maintenance');

INSERT INTO users
SELECT seq, CONCAT('player', seq), 3000 + seq * 7919 % 20000, @last - seq % 86400, @last - seq % 86400, @from, @from, @last
FROM seq_1_to_@USERS@;
INSERT INTO user_devices SELECT seq, seq, CONCAT('viewer-', seq), 1 + seq % 2, @from FROM seq_1_to_@USERS@;
INSERT INTO user_bans SELECT seq, seq * 500 + 13, @from, IF(seq % 4 = 0, @last, NULL) FROM seq_1_to_@BANS@;
INSERT INTO user_login_bonuses SELECT seq, seq, 1, 1 + seq % 20, 1, @last FROM seq_1_to_@USERS@;

-- Three pieces of gear each, which are the deck, and some more for who plays much.
INSERT INTO user_cards
SELECT seq, 1 + (seq - 1) DIV 3, 2, 1, 1, 0, @from, @from FROM seq_1_to_@DECK_CARDS@;
INSERT INTO user_cards
SELECT @DECK_CARDS@ + seq,
       1 + FLOOR(@USERS@ * POW(CONV(LEFT(MD5(CONCAT('c', seq)), 8), 16, 10) / 4294967296, 1.8)) * 7919 % @USERS@,
       3 + seq % 20, 2 + seq % 20, 1, 0, @from + seq, @from + seq
FROM seq_1_to_@MORE_CARDS@;
INSERT INTO user_decks SELECT seq, seq, seq * 3 - 2, seq * 3 - 1, seq * 3, @from, NULL FROM seq_1_to_@USERS@;
INSERT INTO user_items SELECT seq, seq, 3, 101, 20 + seq % 80, @from, @from FROM seq_1_to_@USERS@;
INSERT INTO user_items
SELECT @USERS@ + seq, seq * 2, 3 + seq % 2, IF(seq % 2, 201, 102) + seq % 3, 1 + seq % 30, @from, @from FROM seq_1_to_@HALF@;

-- Half of the presents are coins, the others gear, material and tickets; one in
-- five was received before.
INSERT INTO user_presents
SELECT seq, 1 + FLOOR(@USERS@ * POW(CONV(LEFT(MD5(CONCAT('p', seq)), 8), 16, 10) / 4294967296, 1.8)) * 7919 % @USERS@,
       ELT(1 + seq % 10, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4),
       ELT(1 + seq % 10, 1, 1, 1, 1, 1, 2 + seq % 13, 4, 101 + seq % 7, 101, 201 + seq % 4),
       IF(seq % 10 < 5, 10 * (1 + seq % 9), 1), ELT(1 + seq % 3, 'Well done', 'Guild reward', 'A gift'),
       @from + seq * 7919 % 28000000, IF(seq % 5 = 3, @last, NULL)
FROM seq_1_to_@PRESENTS@;
INSERT INTO user_present_all_history SELECT seq, seq, 1, @last FROM seq_1_to_@USERS@ WHERE seq % 3 <> 0;

-- What nobody clears away.
INSERT INTO user_sessions
SELECT seq, 1 + seq * 7919 % @USERS@, MD5(CONCAT('session', seq)), @last, @last + 86400, @last + 3600 FROM seq_1_to_@STALE@;
INSERT INTO user_one_time_tokens
SELECT seq, 1 + seq * 7919 % @USERS@, MD5(CONCAT('token', seq)), 1 + seq % 2, @last, @last + 600, @last + 60 FROM seq_1_to_@STALE@;
