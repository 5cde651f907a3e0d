-- The same rows on every machine: 200,000 users and 100,000 past attempts.
SET SESSION unique_checks = 0, foreign_key_checks = 0;

-- user1 … user200000 with pass1 … pass200000.
BEGIN;
INSERT INTO users (id, login, password_hash, salt)
SELECT seq, CONCAT('user', seq),
       SHA2(CONCAT('pass', seq, ':', LEFT(MD5(CONCAT('salt', seq)), 12)), 256),
       LEFT(MD5(CONCAT('salt', seq)), 12)
FROM seq_1_to_200000;
COMMIT;

BEGIN;
-- Everyday traffic of 30,000 customers from 12,000 addresses. One attempt in
-- eight fails, but only on every other visit, so that nobody is near a lock.
INSERT INTO login_log (id, created_at, user_id, login, ip, succeeded)
SELECT n, '2024-01-01' + INTERVAL n * 60 SECOND, u, CONCAT('user', u),
       CONCAT('172.16.', a DIV 200, '.', a MOD 200 + 1),
       IF(CONV(LEFT(MD5(CONCAT('try', n)), 4), 16, 10) % 8 = 0 AND (n DIV 30000) % 2 = 0, 0, 1)
FROM (SELECT seq AS n, 1 + (seq * 7919) % 30000 * 4 AS u,
             CONV(LEFT(MD5(CONCAT('ip', seq)), 6), 16, 10) % 12000 AS a
      FROM seq_1_to_95000) AS visits;

-- user190001 … user191000 failed three times each: locked.
INSERT INTO login_log (id, created_at, user_id, login, ip, succeeded)
SELECT seq, '2024-01-01' + INTERVAL seq * 60 SECOND,
       190001 + (seq - 95001) % 1000, CONCAT('user', 190001 + (seq - 95001) % 1000),
       CONCAT('172.20.', (seq - 95001) DIV 200, '.', (seq - 95001) MOD 200 + 1), 0
FROM seq_95001_to_98000;

-- 192.168.0.1 … 192.168.0.200 failed ten times each: banned.
INSERT INTO login_log (id, created_at, user_id, login, ip, succeeded)
SELECT seq, '2024-01-01' + INTERVAL seq * 60 SECOND,
       192001 + (seq - 98001), CONCAT('user', 192001 + (seq - 98001)),
       CONCAT('192.168.0.', 1 + (seq - 98001) % 200), 0
FROM seq_98001_to_100000;
COMMIT;
