CREATE TABLE users (
    id INT NOT NULL PRIMARY KEY,
    name VARCHAR(40) NOT NULL,
    score INT NOT NULL
);
CREATE TABLE notes (
    id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id INT NOT NULL,
    text VARCHAR(40) NULL
);
INSERT INTO users VALUES (1, 'ann', 3), (2, 'bob', 5), (3, 'cid', 0);
CREATE DATABASE IF NOT EXISTS other;
CREATE OR REPLACE TABLE other.users (
    id INT NOT NULL PRIMARY KEY,
    name VARCHAR(40) NOT NULL,
    score INT NOT NULL
);
INSERT INTO other.users VALUES (1, 'zoe', 9), (2, 'yan', 8);
