-- The books: what there was, in a database that the game only reads, so that the
-- teardown can say whether anything was lost or doubled, and a reset can bring it
-- back; and the planners' sheets, of which case.sh writes the master data (CSV).
CREATE DATABASE books DEFAULT CHARACTER SET utf8mb4;
USE books;
CREATE TABLE users (id BIGINT PRIMARY KEY, coins BIGINT, stones BIGINT, exp BIGINT);
CREATE TABLE decks LIKE api.decks;
CREATE TABLE items LIKE api.user_items;
CREATE TABLE presents (user_id BIGINT, id BIGINT, PRIMARY KEY (user_id, id));
INSERT INTO users SELECT id, coins, stones, exp FROM api.users;
INSERT INTO decks SELECT * FROM api.decks;
INSERT INTO items SELECT * FROM api.user_items;
INSERT INTO presents SELECT user_id, id FROM api.presents WHERE received_at IS NULL ORDER BY user_id, id;

CREATE TABLE m_cards (id INT PRIMARY KEY, name VARCHAR(64), rarity INT, element INT, attack INT, defense INT, skill_id INT);
CREATE TABLE m_skills (id INT PRIMARY KEY, name VARCHAR(64), power INT, text VARCHAR(255));
CREATE TABLE m_levels (level INT PRIMARY KEY, exp INT);
CREATE TABLE m_stages (id INT PRIMARY KEY, name VARCHAR(64), exp INT, coins INT);
CREATE TABLE m_drops (id INT PRIMARY KEY, stage_id INT, card_id INT, weight INT);
CREATE TABLE m_gachas (id INT PRIMARY KEY, name VARCHAR(64), price INT, start_at BIGINT, end_at BIGINT);
CREATE TABLE m_gacha_cards (id INT PRIMARY KEY, gacha_id INT, card_id INT, weight INT);
CREATE TABLE m_items (id INT PRIMARY KEY, name VARCHAR(64));
CREATE TABLE m_products (id INT PRIMARY KEY, name VARCHAR(64), price INT, item_id INT, amount INT, featured INT);
CREATE TABLE m_news (id INT PRIMARY KEY, title VARCHAR(64), text VARCHAR(255), start_at BIGINT);
INSERT INTO m_cards
SELECT seq, CONCAT('Card of number ', seq), 1 + (seq % 100 >= 50) + (seq % 100 >= 80) + (seq % 100 >= 94) + (seq % 100 = 99), seq % 5,
       100 + seq * 37 % 400, 80 + seq * 53 % 300, 1 + seq * 7 % 1500 FROM seq_1_to_3000;
INSERT INTO m_skills SELECT seq, CONCAT('Skill ', seq), 10 + seq * 13 % 90, CONCAT('Adds ', 10 + seq * 13 % 90, ' to the power of the one who has it and of those beside it.') FROM seq_1_to_1500;
INSERT INTO m_levels SELECT seq, 50 * (seq - 1) * (seq - 1) FROM seq_1_to_300;
INSERT INTO m_stages SELECT seq, CONCAT('Area ', 1 + (seq - 1) DIV 20, ', stage ', 1 + (seq - 1) % 20), 10 + seq % 90, 20 + seq % 80 FROM seq_1_to_2000;
INSERT INTO m_drops SELECT seq, 1 + (seq - 1) DIV 10, 1 + seq * 6367 % 3000, 1 + 10 * (seq % 10) FROM seq_1_to_20000;
INSERT INTO m_gachas SELECT seq, CONCAT('Gacha ', seq), 30, @from, IF(seq % 4, @from + 10 * 365 * 86400, @last) FROM seq_1_to_12;
INSERT INTO m_gacha_cards
SELECT (g.seq - 1) * 1500 + c.seq, g.seq, 1 + (c.seq * 2 + g.seq) % 3000, IF((c.seq * 2 + g.seq) % 100 = 98, 1, 20) FROM seq_1_to_12 g JOIN seq_1_to_1500 c;
INSERT INTO m_items SELECT seq, CONCAT('Item ', seq) FROM seq_1_to_200;
INSERT INTO m_products SELECT seq, CONCAT('Offer ', seq), 50 + seq * 7 % 400, 1 + seq % 200, 1 + seq % 9, seq % 10 = 0 FROM seq_1_to_400;
INSERT INTO m_news SELECT seq, CONCAT('News of day ', seq), CONCAT('Whoever plays on day ', seq, ' gets a present. Maintenance is done, and the rewards of the last event were sent.'), @from + seq * 86400 FROM seq_1_to_100;

CREATE VIEW touched AS SELECT DISTINCT user_id FROM api.ledger WHERE id > 100000000;
CREATE VIEW new_notes AS SELECT user_id, thing, amount, reason FROM api.ledger WHERE id > 100000000;
-- What there must be (+) and what there is (-).
CREATE VIEW entries AS
SELECT 'coins' AS thing, b.id AS user_id, b.coins AS amount FROM touched t JOIN users b ON b.id = t.user_id
UNION ALL SELECT 'stones', b.id, b.stones FROM touched t JOIN users b ON b.id = t.user_id
UNION ALL SELECT 'exp', b.id, b.exp FROM touched t JOIN users b ON b.id = t.user_id
UNION ALL SELECT 'items', b.user_id, b.amount FROM touched t JOIN items b ON b.user_id = t.user_id
UNION ALL SELECT thing, user_id, amount FROM new_notes
UNION ALL SELECT 'coins', u.id, -u.coins FROM touched t JOIN api.users u ON u.id = t.user_id
UNION ALL SELECT 'stones', u.id, -u.stones FROM touched t JOIN api.users u ON u.id = t.user_id
UNION ALL SELECT 'exp', u.id, -u.exp FROM touched t JOIN api.users u ON u.id = t.user_id
UNION ALL SELECT 'items', i.user_id, -i.amount FROM touched t JOIN api.user_items i ON i.user_id = t.user_id
UNION ALL SELECT 'cards', user_id, -1 FROM api.user_cards WHERE id > 100000000
-- A present is received once: what those are worth that no longer wait.
UNION ALL SELECT CONCAT(p.thing, ' of presents'), p.user_id, p.amount FROM touched t JOIN presents b ON b.user_id = t.user_id JOIN api.presents p ON p.id = b.id WHERE p.received_at IS NOT NULL
UNION ALL SELECT CONCAT(thing, ' of presents'), user_id, -amount FROM new_notes WHERE reason = 'present'
-- Each card of a gacha was paid for, 30 stones, and each play dropped one card.
UNION ALL SELECT 'stones for cards', user_id, 30 * amount FROM new_notes WHERE reason = 'gacha' AND thing = 'cards'
UNION ALL SELECT 'stones for cards', user_id, amount FROM new_notes WHERE reason = 'gacha' AND thing = 'stones'
UNION ALL SELECT 'drops', user_id, 1 FROM new_notes WHERE reason = 'play' AND thing = 'exp'
UNION ALL SELECT 'drops', user_id, -amount FROM new_notes WHERE reason = 'play' AND thing = 'cards';
CREATE VIEW wrong AS
SELECT CONCAT('user ', user_id, ' has ', ABS(SUM(amount)), ' of ', thing, IF(SUM(amount) > 0, ' too few', ' too many')) AS text
FROM entries GROUP BY thing, user_id HAVING SUM(amount) <> 0;
CREATE VIEW purses AS SELECT CONCAT(u.id, ' ', u.coins, ' ', u.stones) AS text FROM touched t JOIN api.users u ON u.id = t.user_id;

-- What the scenario knows of its players, every fifth user: the power of the deck
-- and of the one that he changes to, the stage that he plays, whom he fights.
CREATE TABLE powers (user_id BIGINT PRIMARY KEY, power BIGINT, changed BIGINT);
INSERT INTO powers
SELECT u.user_id, SUM(IF(u.id % 6 = 0, 0, p.power)), SUM(IF(u.id % 6 = 1, 0, p.power))
FROM api.user_cards u
JOIN (SELECT u.id, (c.attack + c.defense + s.power) * u.level AS power FROM api.user_cards u JOIN m_cards c ON c.id = u.card_id JOIN m_skills s ON s.id = c.skill_id
      WHERE u.id <= @BASE_CARDS@) p ON p.id = u.id
WHERE u.id <= @BASE_CARDS@ GROUP BY u.user_id;
CREATE TABLE players (user BIGINT PRIMARY KEY, kind INT, coins BIGINT, stones BIGINT, power BIGINT, changed BIGINT,
    stage INT, stage_coins INT, opponent BIGINT, opponent_power BIGINT, first_battle INT, second_battle INT,
    product INT, price INT, amount INT);
INSERT INTO players
SELECT u.id, (u.id DIV 5) % 10, u.coins, u.stones, p.power, p.changed, m.id, m.coins, o.user_id, o.power,
       IF(p.power >= o.power, 50, 10), IF(p.changed >= o.power, 50, 10), r.id, r.price, r.amount
FROM api.users u JOIN powers p ON p.user_id = u.id JOIN m_stages m ON m.id = 1 + u.id * 17 % 2000
JOIN powers o ON o.user_id = u.id % @USERS@ + 1 JOIN m_products r ON r.id = 1 + u.id * 13 % 400 WHERE u.id % 5 = 0;
CREATE TABLE waiting (user BIGINT PRIMARY KEY, coins BIGINT, stones BIGINT, first TEXT);
INSERT INTO waiting
SELECT user_id, SUM(IF(thing = 'coins', amount, 0)), SUM(IF(thing = 'stones', amount, 0)), GROUP_CONCAT(id ORDER BY id DESC)
FROM (SELECT p.*, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY id DESC) AS n FROM api.presents p WHERE received_at IS NULL) q
WHERE n <= 20 GROUP BY user_id;
