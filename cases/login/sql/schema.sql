-- The bank's tables, as found: primary keys and nothing else.
CREATE TABLE users (
  id            INT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
  login         VARCHAR(255) NOT NULL,
  password_hash VARCHAR(255) NOT NULL,
  salt          VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE login_log (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  created_at DATETIME     NOT NULL,
  user_id    INT          NULL,
  login      VARCHAR(255) NOT NULL,
  ip         VARCHAR(45)  NOT NULL,
  succeeded  TINYINT      NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
