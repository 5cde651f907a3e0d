-- The game's two databases: master data, and what players have. Every question that
-- is asked finds its rows by a key.
CREATE DATABASE cards_master DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE cards_master.m_skills (id INT NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, bonus INT NOT NULL, text VARCHAR(255) NOT NULL);
CREATE TABLE cards_master.m_cards (
    id INT NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    rarity INT NOT NULL,
    attribute VARCHAR(16) NOT NULL,
    attack INT NOT NULL,
    defense INT NOT NULL,
    cost INT NOT NULL,
    skill_id INT NOT NULL,
    flavour VARCHAR(255) NOT NULL
);
CREATE TABLE cards_master.m_gachas (id INT NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, price INT NOT NULL, open INT NOT NULL);
CREATE TABLE cards_master.m_gacha_cards (
    id INT NOT NULL PRIMARY KEY,
    gacha_id INT NOT NULL,
    card_id INT NOT NULL,
    weight INT NOT NULL,
    KEY gacha (gacha_id)
);
CREATE TABLE cards_master.m_news (id INT NOT NULL PRIMARY KEY, title VARCHAR(128) NOT NULL, body TEXT NOT NULL);

CREATE TABLE players (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    password_hash CHAR(64) NOT NULL,
    salt CHAR(12) NOT NULL,
    coins BIGINT NOT NULL,
    level INT NOT NULL,
    guild_id BIGINT NOT NULL,
    leader_id BIGINT NOT NULL,
    UNIQUE KEY name (name),
    KEY guild (guild_id)
);
CREATE TABLE user_cards (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    player_id BIGINT NOT NULL,
    card_id INT NOT NULL,
    level INT NOT NULL,
    KEY player (player_id)
);
CREATE TABLE deck_cards (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    player_id BIGINT NOT NULL,
    deck INT NOT NULL,
    position INT NOT NULL,
    user_card_id BIGINT NOT NULL,
    UNIQUE KEY place (player_id, deck, position)
);
CREATE TABLE guilds (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64) NOT NULL);
CREATE TABLE guild_battles (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    guild_id BIGINT NOT NULL,
    enemy_id BIGINT NOT NULL,
    points BIGINT NOT NULL,
    UNIQUE KEY guild (guild_id)
);
CREATE TABLE attacks (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    player_id BIGINT NOT NULL,
    guild_id BIGINT NOT NULL,
    enemy_id BIGINT NOT NULL,
    deck INT NOT NULL,
    created_at BIGINT NOT NULL,
    KEY player (player_id)
);
CREATE TABLE attack_cards (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    attack_id BIGINT NOT NULL,
    user_card_id BIGINT NOT NULL,
    damage INT NOT NULL,
    KEY attack (attack_id)
);
CREATE TABLE ledger (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    player_id BIGINT NOT NULL,
    thing VARCHAR(16) NOT NULL,
    amount BIGINT NOT NULL,
    reason VARCHAR(16) NOT NULL,
    created_at BIGINT NOT NULL,
    KEY player (player_id)
);
