-- Primary keys and nothing else. Times are Unix seconds.
CREATE TABLE id_generator (id BIGINT NOT NULL) ENGINE = InnoDB;

CREATE TABLE users (
    id BIGINT NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    coins BIGINT NOT NULL,
    last_reward_at BIGINT NOT NULL,
    last_activated_at BIGINT NOT NULL,
    registered_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE user_devices (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    viewer VARCHAR(64) NOT NULL,
    platform INT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE user_bans (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE TABLE user_sessions (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    session VARCHAR(64) NOT NULL,
    created_at BIGINT NOT NULL,
    expired_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE TABLE user_one_time_tokens (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    token VARCHAR(64) NOT NULL,
    token_type INT NOT NULL,
    created_at BIGINT NOT NULL,
    expired_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE TABLE user_cards (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    item_id BIGINT NOT NULL,
    amount_per_sec INT NOT NULL,
    level INT NOT NULL,
    total_exp BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE user_decks (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    card_1 BIGINT NOT NULL,
    card_2 BIGINT NOT NULL,
    card_3 BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE TABLE user_items (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    item_type INT NOT NULL,
    item_id BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE user_presents (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    item_type INT NOT NULL,
    item_id BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    message VARCHAR(255) NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE TABLE user_present_all_history (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    present_all_id BIGINT NOT NULL,
    received_at BIGINT NOT NULL
);
CREATE TABLE user_login_bonuses (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    login_bonus_id BIGINT NOT NULL,
    last_sequence INT NOT NULL,
    loop_count INT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE user_coin_logs (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    reason VARCHAR(16) NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE version_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    status INT NOT NULL,
    master_version VARCHAR(64) NOT NULL
);
CREATE TABLE item_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    item_type INT NOT NULL,
    name VARCHAR(64) NOT NULL,
    amount_per_sec INT NOT NULL,
    max_level INT NOT NULL,
    max_amount_per_sec INT NOT NULL,
    base_exp INT NOT NULL,
    gained_exp INT NOT NULL,
    price INT NOT NULL
);
CREATE TABLE lottery_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    price INT NOT NULL,
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL
);
CREATE TABLE lottery_item_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    lottery_id BIGINT NOT NULL,
    item_type INT NOT NULL,
    item_id BIGINT NOT NULL,
    amount INT NOT NULL,
    weight INT NOT NULL
);
CREATE TABLE login_bonus_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL,
    days INT NOT NULL,
    looped INT NOT NULL
);
CREATE TABLE login_bonus_reward_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    login_bonus_id BIGINT NOT NULL,
    sequence INT NOT NULL,
    item_type INT NOT NULL,
    item_id BIGINT NOT NULL,
    amount INT NOT NULL
);
CREATE TABLE present_all_masters (
    id BIGINT NOT NULL PRIMARY KEY,
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL,
    item_type INT NOT NULL,
    item_id BIGINT NOT NULL,
    amount INT NOT NULL,
    message VARCHAR(255) NOT NULL
);

CREATE TABLE admin_users (
    id BIGINT NOT NULL PRIMARY KEY,
    password_hash CHAR(64) NOT NULL,
    salt CHAR(12) NOT NULL
);
CREATE TABLE admin_sessions (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    session VARCHAR(64) NOT NULL,
    expired_at BIGINT NOT NULL
);
