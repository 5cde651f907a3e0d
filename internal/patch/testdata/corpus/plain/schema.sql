-- The tables of the corpus.
CREATE TABLE users (
  id BIGINT NOT NULL PRIMARY KEY,
  name VARCHAR(64) NOT NULL,
  nick VARCHAR(64) NOT NULL,
  score INT NULL,
  parent_id BIGINT NOT NULL DEFAULT 0,
  UNIQUE KEY name (name),
  KEY nick (nick)
);
CREATE TABLE posts (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id BIGINT NOT NULL,
  author VARCHAR(64) NOT NULL,
  title VARCHAR(255) NOT NULL,
  seen INT NOT NULL DEFAULT 0
);
CREATE TABLE likes (
  user_id BIGINT NOT NULL,
  post_id BIGINT NOT NULL,
  stars INT NULL,
  PRIMARY KEY (user_id, post_id)
);
CREATE TABLE notes (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  post_id BIGINT NOT NULL,
  body VARCHAR(255) NOT NULL,
  kind INT NOT NULL
);
CREATE TABLE bodies (
  post_id BIGINT NOT NULL,
  body LONGTEXT NOT NULL
);
CREATE TABLE folders (
  id BIGINT NOT NULL PRIMARY KEY,
  parent_id BIGINT NULL,
  FOREIGN KEY (parent_id) REFERENCES folders (id)
);
