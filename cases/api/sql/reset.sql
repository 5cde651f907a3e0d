-- Back to the first state: whatever was made since has an id above 100,000,000, and
-- whoever won, paid or received anything is in the ledger above it.
SET SESSION innodb_lock_wait_timeout = 60;
CREATE TEMPORARY TABLE back (user_id BIGINT PRIMARY KEY) ENGINE = MEMORY SELECT user_id FROM books.touched;
START TRANSACTION;
UPDATE back t JOIN books.users b ON b.id = t.user_id JOIN users u ON u.id = b.id
SET u.coins = b.coins, u.stones = b.stones, u.exp = b.exp;
UPDATE back t JOIN books.presents b ON b.user_id = t.user_id JOIN presents p ON p.id = b.id SET p.received_at = NULL;
UPDATE back t JOIN books.items b ON b.user_id = t.user_id JOIN user_items i ON i.user_id = b.user_id AND i.item_id = b.item_id SET i.amount = b.amount;
DELETE i FROM back t JOIN user_items i ON i.user_id = t.user_id LEFT JOIN books.items b ON b.user_id = i.user_id AND b.item_id = i.item_id WHERE b.user_id IS NULL;
UPDATE books.decks b JOIN decks d ON d.user_id = b.user_id
SET d.card_1 = b.card_1, d.card_2 = b.card_2, d.card_3 = b.card_3, d.card_4 = b.card_4, d.card_5 = b.card_5 WHERE d.card_1 <> b.card_1;
DELETE FROM decks WHERE user_id > 100000000;
DELETE FROM users WHERE id > 100000000;
DELETE FROM user_cards WHERE id > 100000000;
DELETE FROM friends WHERE id > 100000000;
DELETE FROM ledger WHERE id > 100000000;
COMMIT;
