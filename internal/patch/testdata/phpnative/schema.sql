CREATE TABLE users (
    id INT NOT NULL PRIMARY KEY,
    name VARCHAR(40) NOT NULL,
    nick VARCHAR(20) NULL UNIQUE,
    score INT NOT NULL
);
CREATE TABLE notes (
    id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id INT NOT NULL,
    text VARCHAR(40) NULL,
    UNIQUE KEY one (user_id, text)
);
