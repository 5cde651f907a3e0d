-- The books: what there was, in a database that the game only reads, so that the
-- teardown can say whether anything was lost or doubled, and a reset can bring it
-- back.
CREATE DATABASE books DEFAULT CHARACTER SET utf8mb4;
USE books;
CREATE TABLE players (id BIGINT PRIMARY KEY, coins BIGINT);
CREATE TABLE guild_battles (id BIGINT PRIMARY KEY, guild_id BIGINT, points BIGINT);
INSERT INTO players SELECT id, coins FROM cards.players;
INSERT INTO guild_battles SELECT id, guild_id, points FROM cards.guild_battles;

-- Who has changed anything: paid, was paid, or saved a deck.
CREATE VIEW touched AS
SELECT player_id FROM cards.ledger WHERE id > 100000000
UNION SELECT player_id FROM cards.deck_cards WHERE id > 100000000;
-- What there must be (+) and what there is (-), each kind of thing in its own unit.
CREATE VIEW entries AS
SELECT 'coins' AS thing, CONCAT('player ', b.id) AS who, b.coins AS amount FROM touched t JOIN players b ON b.id = t.player_id
UNION ALL SELECT 'coins', CONCAT('player ', player_id), amount FROM cards.ledger WHERE id > 100000000 AND thing = 'coins'
UNION ALL SELECT 'coins', CONCAT('player ', p.id), -p.coins FROM touched t JOIN cards.players p ON p.id = t.player_id
UNION ALL SELECT 'cards', CONCAT('player ', player_id), amount FROM cards.ledger WHERE id > 100000000 AND thing = 'cards'
UNION ALL SELECT 'cards', CONCAT('player ', player_id), -1 FROM cards.user_cards WHERE id > 100000000
-- A card of gacha 1 costs 30 coins, and no other is drawn from.
UNION ALL SELECT 'coins for cards', CONCAT('player ', player_id), -amount FROM cards.ledger WHERE id > 100000000 AND reason = 'gacha' AND thing = 'coins'
UNION ALL SELECT 'coins for cards', CONCAT('player ', player_id), -30 * amount FROM cards.ledger WHERE id > 100000000 AND reason = 'gacha' AND thing = 'cards'
-- A battle is paid once, and has a row for each card of a deck.
UNION ALL SELECT 'coins of battles', CONCAT('player ', player_id), 10 FROM cards.attacks WHERE id > 100000000
UNION ALL SELECT 'coins of battles', CONCAT('player ', player_id), -amount FROM cards.ledger WHERE id > 100000000 AND reason = 'battle'
UNION ALL SELECT 'cards in battles', CONCAT('player ', player_id), 25 FROM cards.attacks WHERE id > 100000000
UNION ALL SELECT 'cards in battles', CONCAT('player ', a.player_id), -1 FROM cards.attacks a JOIN cards.attack_cards c ON c.attack_id = a.id WHERE a.id > 100000000
UNION ALL SELECT 'points', CONCAT('guild ', guild_id), points FROM guild_battles
UNION ALL SELECT 'points', CONCAT('guild ', a.guild_id), c.damage FROM cards.attacks a JOIN cards.attack_cards c ON c.attack_id = a.id WHERE a.id > 100000000
UNION ALL SELECT 'points', CONCAT('guild ', guild_id), -points FROM cards.guild_battles
-- Decks stay whole, and their cards are the player's.
UNION ALL SELECT 'cards in decks', CONCAT('player ', player_id), 200 FROM touched
UNION ALL SELECT 'cards in decks', CONCAT('player ', t.player_id), -1 FROM touched t JOIN cards.deck_cards d ON d.player_id = t.player_id
    JOIN cards.user_cards c ON c.id = d.user_card_id AND c.player_id = d.player_id;
CREATE VIEW wrong AS
SELECT CONCAT(who, ' has ', ABS(SUM(amount)), ' of ', thing, IF(SUM(amount) > 0, ' too few', ' too many')) AS text
FROM entries GROUP BY thing, who HAVING SUM(amount) <> 0;
CREATE VIEW purses AS SELECT CONCAT(p.id, ' ', p.coins) AS text FROM touched t JOIN cards.players p ON p.id = t.player_id;

-- What the scenario knows of its players: the power of their first four decks; of who
-- fights, whom, and what it brings. Only deck 3 is edited.
CREATE TABLE powers (player_id BIGINT, deck INT, power BIGINT, PRIMARY KEY (player_id, deck));
CREATE TABLE fights (player_id BIGINT PRIMARY KEY, enemy_id BIGINT, points BIGINT);
CREATE TEMPORARY TABLE worth (id BIGINT PRIMARY KEY, player_id BIGINT, deck INT, power INT)
SELECT u.id, u.player_id, 1 + (u.id - 1) DIV 25 % 8 AS deck, m.attack + 3 * u.level + s.bonus AS power
FROM cards.user_cards u JOIN cards_master.m_cards m ON m.id = u.card_id JOIN cards_master.m_skills s ON s.id = m.skill_id
WHERE u.id <= @PLACES@ AND (u.id - 1) DIV 25 % 8 < 4;
INSERT INTO powers SELECT player_id, deck, SUM(power) FROM worth GROUP BY player_id, deck;
INSERT INTO fights
SELECT f.id, f.enemy_id, SUM(GREATEST(1, w.power - e.power DIV 50))
FROM (SELECT p.id, MIN(q.id) AS enemy_id FROM cards.players p JOIN cards.guild_battles b ON b.guild_id = p.guild_id
      JOIN cards.players q ON q.guild_id = b.enemy_id WHERE p.id % 10 IN (6, 7, 8) GROUP BY p.id) f
JOIN worth w ON w.player_id = f.id AND w.deck = 2 JOIN powers e ON e.player_id = f.enemy_id AND e.deck = 1
GROUP BY f.id, f.enemy_id;
USE cards;
