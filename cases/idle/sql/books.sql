-- The books: what there was, in a database that the game only reads, so that the
-- teardown can say whether anything was lost or doubled, and a reset can bring it
-- back. Every user who has done anything has a session above 100,000,000.
CREATE DATABASE books DEFAULT CHARACTER SET utf8mb4;
USE books;
CREATE TABLE users (id BIGINT PRIMARY KEY, coins BIGINT, last_reward_at BIGINT, last_activated_at BIGINT, updated_at BIGINT);
CREATE TABLE cards (user_id BIGINT, id BIGINT, amount_per_sec INT, level INT, total_exp BIGINT, updated_at BIGINT, PRIMARY KEY (user_id, id));
CREATE TABLE items (user_id BIGINT, id BIGINT, item_id BIGINT, amount BIGINT, updated_at BIGINT, PRIMARY KEY (user_id, id));
CREATE TABLE presents (user_id BIGINT, id BIGINT, PRIMARY KEY (user_id, id));
CREATE TABLE decks (user_id BIGINT, id BIGINT, PRIMARY KEY (user_id, id));
CREATE TABLE bonuses (user_id BIGINT, id BIGINT, last_sequence INT, loop_count INT, updated_at BIGINT, PRIMARY KEY (user_id, id));
INSERT INTO users SELECT id, coins, last_reward_at, last_activated_at, updated_at FROM idle.users;
INSERT INTO cards SELECT user_id, id, amount_per_sec, level, total_exp, updated_at FROM idle.user_cards ORDER BY user_id, id;
INSERT INTO items SELECT user_id, id, item_id, amount, updated_at FROM idle.user_items ORDER BY user_id, id;
INSERT INTO presents SELECT user_id, id FROM idle.user_presents WHERE deleted_at IS NULL ORDER BY user_id, id;
INSERT INTO decks SELECT user_id, id FROM idle.user_decks;
INSERT INTO bonuses SELECT user_id, id, last_sequence, loop_count, updated_at FROM idle.user_login_bonuses;
CREATE TABLE version_masters LIKE idle.version_masters;
CREATE TABLE present_all_masters LIKE idle.present_all_masters;
CREATE TABLE lottery_masters LIKE idle.lottery_masters;
INSERT INTO version_masters SELECT * FROM idle.version_masters;
INSERT INTO present_all_masters SELECT * FROM idle.present_all_masters;
INSERT INTO lottery_masters SELECT * FROM idle.lottery_masters;

CREATE VIEW touched AS SELECT DISTINCT user_id FROM idle.user_sessions WHERE id > 100000000;
-- Presents that were received since: of the ones there were, and of new ones.
CREATE VIEW received AS
SELECT p.user_id, p.item_type, p.item_id, p.amount
FROM touched t JOIN presents b ON b.user_id = t.user_id JOIN idle.user_presents p ON p.id = b.id
WHERE p.deleted_at IS NOT NULL
UNION ALL
SELECT user_id, item_type, item_id, amount FROM idle.user_presents WHERE id > 100000000 AND deleted_at IS NOT NULL;
-- What there must be (+) and what there is (-), each kind of thing in its own unit.
CREATE VIEW entries AS
SELECT 'coins' AS thing, b.id AS user_id, b.coins AS amount FROM touched t JOIN users b ON b.id = t.user_id
UNION ALL SELECT 'coins', user_id, amount FROM idle.user_coin_logs WHERE id > 100000000
UNION ALL SELECT 'coins', u.id, -u.coins FROM touched t JOIN idle.users u ON u.id = t.user_id
UNION ALL SELECT 'coins of presents', user_id, amount FROM received WHERE item_type = 1
UNION ALL SELECT 'coins of presents', user_id, -amount FROM idle.user_coin_logs WHERE id > 100000000 AND reason = 'present'
-- The login bonus is had once: its number grows by one, and the second bonus begins.
UNION ALL SELECT 'login bonuses', t.user_id, 2 FROM touched t
UNION ALL SELECT 'login bonuses', user_id, -1 FROM idle.user_coin_logs WHERE id > 100000000 AND reason = 'bonus'
-- Gear: three to begin with, received, bought.
UNION ALL SELECT 'gear', user_id, amount FROM received WHERE item_type = 2
UNION ALL SELECT 'gear', user_id, 1 FROM idle.user_coin_logs WHERE id > 100000000 AND reason = 'gear'
UNION ALL SELECT 'gear', id, 3 FROM idle.users WHERE id > 100000000
UNION ALL SELECT 'gear', user_id, -1 FROM idle.user_cards WHERE id > 100000000
-- Material is worth experience, which it becomes when it is used.
UNION ALL SELECT 'experience', b.user_id, b.amount * m.gained_exp FROM touched t JOIN items b ON b.user_id = t.user_id JOIN idle.item_masters m ON m.id = b.item_id
UNION ALL SELECT 'experience', b.user_id, b.total_exp FROM touched t JOIN cards b ON b.user_id = t.user_id
UNION ALL SELECT 'experience', r.user_id, r.amount * m.gained_exp FROM received r JOIN idle.item_masters m ON m.id = r.item_id WHERE r.item_type = 3
UNION ALL SELECT 'experience', i.user_id, -i.amount * m.gained_exp FROM touched t JOIN items b ON b.user_id = t.user_id JOIN idle.user_items i ON i.id = b.id JOIN idle.item_masters m ON m.id = i.item_id
UNION ALL SELECT 'experience', i.user_id, -i.amount * m.gained_exp FROM idle.user_items i JOIN idle.item_masters m ON m.id = i.item_id WHERE i.id > 100000000
UNION ALL SELECT 'experience', c.user_id, -c.total_exp FROM touched t JOIN cards b ON b.user_id = t.user_id JOIN idle.user_cards c ON c.id = b.id
UNION ALL SELECT 'experience', user_id, -total_exp FROM idle.user_cards WHERE id > 100000000
UNION ALL SELECT 'tickets', b.user_id, b.amount FROM touched t JOIN items b ON b.user_id = t.user_id WHERE b.item_id > 200
UNION ALL SELECT 'tickets', user_id, amount FROM received WHERE item_type = 4
UNION ALL SELECT 'tickets', i.user_id, -i.amount FROM touched t JOIN items b ON b.user_id = t.user_id JOIN idle.user_items i ON i.id = b.id WHERE i.item_id > 200
UNION ALL SELECT 'tickets', user_id, -amount FROM idle.user_items WHERE id > 100000000 AND item_id > 200
-- Each draw is paid for, with the price that its log tells (draws of lottery 1).
UNION ALL SELECT 'draws', user_id, -amount FROM idle.user_coin_logs WHERE id > 100000000 AND reason = 'lottery'
UNION ALL SELECT 'draws', p.user_id, -m.price FROM idle.user_presents p JOIN idle.lottery_masters m ON m.id = 1 WHERE p.id > 100000000 AND p.message = 'Lottery 1'
-- A present for all comes once.
UNION ALL SELECT 'presents for all', user_id, 1 FROM idle.user_present_all_history WHERE id > 100000000
UNION ALL SELECT 'presents for all', p.user_id, -1 FROM idle.user_presents p JOIN idle.present_all_masters m ON m.message = p.message WHERE p.id > 100000000;
CREATE VIEW wrong AS
SELECT CONCAT('user ', user_id, ' has ', ABS(SUM(amount)), ' of ', thing, IF(SUM(amount) > 0, ' too few', ' too many')) AS text
FROM entries GROUP BY thing, user_id HAVING SUM(amount) <> 0
UNION ALL
SELECT CONCAT('user ', user_id, ' had present for all ', present_all_id, ' ', COUNT(*), ' times')
FROM idle.user_present_all_history WHERE id > 100000000 GROUP BY user_id, present_all_id HAVING COUNT(*) > 1;
CREATE VIEW purses AS SELECT CONCAT(u.id, ' ', u.coins) AS text FROM touched t JOIN idle.users u ON u.id = t.user_id;

-- What the scenario knows of its players, all of them not banned: what the first
-- login gives, and the first two pages of presents. The admin's master data of
-- version 2 has one more present for all, of 1,000 coins, and lottery 1 for 40.
CREATE TABLE players (user_id BIGINT PRIMARY KEY, kind INT, coins BIGINT, fresh INT, fresh_coins INT);
INSERT INTO players
SELECT id, id % 10, coins + 100 * IF(1 + id % 20 >= 20, 1, 2 + id % 20) + 300, IF(id % 3, 2, 3), IF(id % 3, 1000, 1500)
FROM idle.users WHERE id % 500 <> 13 AND id <= 100000;
CREATE TABLE collectors (user_id BIGINT PRIMARY KEY, coins_received BIGINT, first TEXT, second TEXT);
INSERT INTO collectors
SELECT q.user_id, q.coins + q.fresh_coins + SUM(IF(q.n <= 20 - q.fresh AND q.item_type = 1, q.amount, 0)),
       GROUP_CONCAT(IF(q.n <= 20 - q.fresh, q.id, NULL) ORDER BY q.n),
       IFNULL(GROUP_CONCAT(IF(q.n > 20 - q.fresh AND q.n <= 40 - q.fresh, q.id, NULL) ORDER BY q.n), '')
FROM (SELECT p.id, p.user_id, p.item_type, p.amount, k.coins, k.fresh, k.fresh_coins,
             ROW_NUMBER() OVER (PARTITION BY p.user_id ORDER BY p.created_at DESC, p.id) AS n
      FROM players k JOIN idle.user_presents p ON p.user_id = k.user_id
      WHERE k.kind < 4 AND p.deleted_at IS NULL) q
WHERE q.n <= 40 GROUP BY q.user_id;
USE idle;
