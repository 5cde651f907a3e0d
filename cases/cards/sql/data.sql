-- The same rows on every machine. @PLAYERS@ players with eight decks of 25 cards each
-- (@PLACES@ places) and @MORE_CARDS@ cards more; whatever is made later has an id above
-- 100,000,000. How many cards a player has, and which ones, is skewed: of N rows the one
-- with the number i belongs to rank N·h(i)^1.8, h even between 0 and 1 (a density of
-- rank^-0.44), and ranks are spread over the ids.
SET SESSION unique_checks = 0, foreign_key_checks = 0;

INSERT INTO cards_master.m_skills
SELECT seq, CONCAT(ELT(1 + seq % 5, 'Flash ', 'Guard ', 'Storm ', 'Roar ', 'Thorn '), seq), seq % 40,
       CONCAT('Raises attack by ', seq % 40, ' while the card is in a deck.') FROM seq_1_to_400;
INSERT INTO cards_master.m_cards
SELECT seq, CONCAT(ELT(1 + seq % 7, 'Knight ', 'Dragon ', 'Witch ', 'Archer ', 'Golem ', 'Spirit ', 'Thief '), seq),
       1 + FLOOR(5 * POW(CONV(LEFT(MD5(CONCAT('r', seq)), 8), 16, 10) / 4294967296, 2)), ELT(1 + seq % 4, 'fire', 'water', 'wind', 'earth'),
       50 + seq * 7919 % 400, 50 + seq * 104729 % 400, 5 + seq % 20, 1 + seq * 31 % 400,
       CONCAT('Of card ', seq, ' it is told that nobody who met it twice has told of it.') FROM seq_1_to_3000;
INSERT INTO cards_master.m_gachas SELECT seq, CONCAT('Gacha ', seq), 20 + 10 * seq, IF(seq <= 4, 1, 0) FROM seq_1_to_12;
INSERT INTO cards_master.m_gacha_cards
SELECT g.seq * 1000 + c.seq, g.seq, 1 + (g.seq * 613 + c.seq * 37) % 3000, 1 + c.seq * c.seq % 50 FROM seq_1_to_12 g JOIN seq_1_to_60 c;
INSERT INTO cards_master.m_news
SELECT seq, CONCAT('News ', seq), REPEAT(CONCAT('What happened on day ', seq, ' was told in all guilds. '), 6) FROM seq_1_to_200;

-- Every guild has five members, and the others go where many are already.
INSERT INTO guilds SELECT seq, CONCAT('Guild ', seq) FROM seq_1_to_@GUILDS@;
INSERT INTO guild_battles SELECT seq, seq, IF(seq % 2, seq + 1, seq - 1), 1000 + seq * 7919 % 5000 FROM seq_1_to_@GUILDS@;
INSERT INTO players
SELECT seq, CONCAT('player', seq), SHA2(CONCAT('secret', seq, ':', 'c0ffee123456'), 256), 'c0ffee123456', 5000 + seq * 7919 % 20000, 1 + seq % 90,
       IF(seq <= 5 * @GUILDS@, 1 + seq % @GUILDS@, 1 + FLOOR(@GUILDS@ * POW(CONV(LEFT(MD5(CONCAT('g', seq)), 8), 16, 10) / 4294967296, 1.8)) * 7919 % @GUILDS@),
       (seq - 1) * 200 + 1 + seq % 25
FROM seq_1_to_@PLAYERS@;
INSERT INTO user_cards
SELECT seq, 1 + (seq - 1) DIV 200, 1 + FLOOR(3000 * POW(CONV(LEFT(MD5(CONCAT('c', seq)), 8), 16, 10) / 4294967296, 1.8)) * 7919 % 3000, 1 + seq * 104729 % 60
FROM seq_1_to_@PLACES@;
INSERT INTO user_cards
SELECT @PLACES@ + seq, 1 + FLOOR(@PLAYERS@ * POW(CONV(LEFT(MD5(CONCAT('m', seq)), 8), 16, 10) / 4294967296, 1.8)) * 7919 % @PLAYERS@, 1 + seq * 37 % 3000, 1
FROM seq_1_to_@MORE_CARDS@;
INSERT INTO deck_cards
SELECT seq, 1 + (seq - 1) DIV 200, 1 + (seq - 1) DIV 25 % 8, 1 + (seq - 1) % 25, seq FROM seq_1_to_@PLACES@;
ALTER TABLE user_cards AUTO_INCREMENT = 100000001;
ALTER TABLE deck_cards AUTO_INCREMENT = 100000001;
ALTER TABLE attacks AUTO_INCREMENT = 100000001;
ALTER TABLE attack_cards AUTO_INCREMENT = 100000001;
ALTER TABLE ledger AUTO_INCREMENT = 100000001;
