-- Times are Unix seconds. What the case makes is below 100,000,000.
CREATE TABLE users (
    id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    name VARCHAR(64) NOT NULL,
    device VARCHAR(64) NOT NULL,
    coins BIGINT NOT NULL,
    stones BIGINT NOT NULL,
    exp BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE user_cards (
    id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    user_id BIGINT NOT NULL,
    card_id BIGINT NOT NULL,
    level INT NOT NULL,
    created_at BIGINT NOT NULL,
    KEY user (user_id)
);
CREATE TABLE decks (
    user_id BIGINT NOT NULL PRIMARY KEY,
    card_1 BIGINT NOT NULL,
    card_2 BIGINT NOT NULL,
    card_3 BIGINT NOT NULL,
    card_4 BIGINT NOT NULL,
    card_5 BIGINT NOT NULL
);
CREATE TABLE user_items (
    user_id BIGINT NOT NULL,
    item_id BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (user_id, item_id)
);
CREATE TABLE presents (
    id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    user_id BIGINT NOT NULL,
    thing VARCHAR(8) NOT NULL,
    amount BIGINT NOT NULL,
    message VARCHAR(255) NOT NULL,
    created_at BIGINT NOT NULL,
    received_at BIGINT,
    KEY user (user_id, received_at)
);
CREATE TABLE friends (
    id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    user_id BIGINT NOT NULL,
    friend_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE KEY pair (user_id, friend_id)
);
CREATE TABLE ledger (
    id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    user_id BIGINT NOT NULL,
    thing VARCHAR(8) NOT NULL,
    amount BIGINT NOT NULL,
    reason VARCHAR(16) NOT NULL,
    created_at BIGINT NOT NULL,
    KEY user (user_id)
);
