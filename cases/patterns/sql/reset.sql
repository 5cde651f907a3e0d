TRUNCATE TABLE events;
TRUNCATE TABLE orders;
UPDATE sequence SET id = 0;
UPDATE stock SET amount = 1000000;
UPDATE notes SET seen = 0;
