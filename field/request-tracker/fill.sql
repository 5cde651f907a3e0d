-- What twelve queues hold after three years: 40 agents, 3,000 customers, 14,520
-- tickets with their roles, histories, texts, files and links. Every number is of
-- a hash of its row, so that each fill is the same. Few customers write most
-- tickets, few queues hold most of them, few tickets have long histories.
SET SESSION sql_mode = '', unique_checks = 0, foreign_key_checks = 0, group_concat_max_len = 1000000;
SET @last = '2026-11-01 12:00:00', @span = 3 * 365 * 86400;
SET @tickets = 14520, @customers = 3000, @agents = 40;
-- Principals: agents from 1002 on, customers from 2002 on, each with its group
-- beside it; ticket roles from 10004 on, four a ticket.
SET @agent1 = (SELECT id FROM Users WHERE Name = 'agent1'), @agentsgroup = (SELECT id FROM Groups WHERE Name = 'Agents');
SET @nobody = (SELECT id FROM Users WHERE Name = 'Nobody'), @system = (SELECT id FROM Users WHERE Name = 'RT_System');
SET @everyone = 3, @privileged = 4, @unprivileged = 5;

CREATE OR REPLACE FUNCTION r(n BIGINT, k INT) RETURNS DOUBLE DETERMINISTIC
    RETURN CONV(LEFT(MD5(CONCAT(n, '/', k)), 8), 16, 10) / 4294967296;
-- One of 1 to n, the first ones most often (by 1/i).
CREATE OR REPLACE FUNCTION few(n INT, u DOUBLE) RETURNS INT DETERMINISTIC RETURN LEAST(n, FLOOR(POW(n + 1, u)));

-- Agents and customers.
CREATE TEMPORARY TABLE person AS
    SELECT 1000 + 2 * seq AS id, CONCAT('agent', seq) AS name, CONCAT('Agent ', seq) AS real_name, CONCAT('agent', seq, '@field.example') AS email, 1 AS agent FROM seq_2_to_40
    UNION ALL
    SELECT 2000 + 2 * seq, CONCAT(ELT(1 + FLOOR(r(seq, 1) * 20), 'anna', 'ben', 'carla', 'david', 'emma', 'felix', 'grace', 'hugo', 'ines', 'jan', 'kate', 'leo', 'mia', 'noah', 'olga', 'paul', 'rosa', 'sam', 'tina', 'victor'), seq, '@',
        ELT(few(8, r(seq, 2)), 'north', 'harbour', 'campus', 'airport', 'mill', 'valley', 'lake', 'hill'), '.example'), NULL, NULL, 0 FROM seq_1_to_3000;
UPDATE person SET email = name WHERE agent = 0;
INSERT INTO Principals (id, PrincipalType) SELECT id, 'User' FROM person UNION ALL SELECT id + 1, 'Group' FROM person;
INSERT INTO Users (id, Name, Password, EmailAddress, RealName, Comments, Creator, Created, LastUpdatedBy, LastUpdated)
    SELECT p.id, p.name, IF(agent, u.Password, '*NO-PASSWORD*'), p.email, p.real_name, IF(agent, NULL, 'Autocreated on ticket submission'), 1, @last, 1, @last FROM person p JOIN Users u ON u.Name = 'agent1';
INSERT INTO Groups (id, Name, Description, Domain, Instance, Creator, Created, LastUpdatedBy, LastUpdated)
    SELECT id + 1, 'UserEquiv', CONCAT('ACL equiv. for user ', id), 'ACLEquivalence', id, 1, @last, 1, @last FROM person;
CREATE TEMPORARY TABLE member AS
    SELECT id + 1 AS g, id AS m FROM person
    UNION ALL SELECT @everyone, id FROM person
    UNION ALL SELECT IF(agent, @privileged, @unprivileged), id FROM person
    UNION ALL SELECT @agentsgroup, id FROM person WHERE agent;
INSERT INTO GroupMembers (GroupId, MemberId, Creator, Created, LastUpdatedBy, LastUpdated) SELECT g, m, 1, @last, 1, @last FROM member;
INSERT INTO CachedGroupMembers (GroupId, MemberId, ImmediateParentId) SELECT id + 1, id + 1, id + 1 FROM person UNION ALL SELECT g, m, g FROM member;

-- Tickets. The newer a ticket, the likelier it is under way.
CREATE TEMPORARY TABLE queue AS SELECT ROW_NUMBER() OVER (ORDER BY id) AS n, id FROM Queues WHERE Name NOT IN ('General', '___Approvals') AND Disabled = 0;
CREATE TEMPORARY TABLE t (PRIMARY KEY (id)) AS
    SELECT seq AS id, FROM_UNIXTIME(UNIX_TIMESTAMP(@last) - @span + FLOOR(@span * POW(seq / @tickets, 0.8))) AS created,
        few(12, r(seq, 3)) AS queue_n, 2000 + 2 * few(@customers, r(seq, 4)) AS requestor, few(@agents, r(seq, 5)) AS agent_n,
        r(seq, 6) AS u, r(seq, 7) AS v, seq / @tickets AS age,
        LEAST(80, FLOOR(0.6 * POW(1 - r(seq, 8), -0.75))) AS replies, FLOOR(r(seq, 9) * 10) * 10 AS priority
    FROM seq_1_to_14520;
ALTER TABLE t ADD status VARCHAR(20), ADD owner INT, ADD queue INT, ADD subject VARCHAR(200), ADD updated DATETIME;
UPDATE t JOIN queue q ON q.n = queue_n SET t.queue = q.id,
    status = CASE WHEN v < 0.03 THEN 'rejected' WHEN v < 0.05 THEN 'deleted' WHEN v < 0.05 + 0.9 * POW(age, 12) THEN IF(u < 0.35, 'new', 'open') WHEN v < 0.08 + 0.9 * POW(age, 12) THEN 'stalled' WHEN v > 0.975 THEN 'open' ELSE 'resolved' END,
    subject = CONCAT(ELT(few(14, r(t.id, 11)), 'Cannot log in to', 'Question about', 'No connection to', 'Slow access to', 'Error message from', 'Request for', 'Broken link in', 'Please change', 'Invoice for', 'New account for', 'Printer problem at', 'Update of', 'Complaint about', 'Delivery of'), ' ',
        ELT(1 + FLOOR(r(t.id, 12) * 16), 'the mail server', 'the intranet', 'room 214', 'the booking system', 'the file share', 'VPN', 'the projector', 'the web shop', 'the payroll portal', 'the backup', 'the north office', 'the wireless network', 'the calendar', 'the phone system', 'order 2231', 'the test environment'),
        IF(r(t.id, 13) < 0.4, CONCAT(' (', ELT(1 + FLOOR(r(t.id, 14) * 6), 'urgent', 'second try', 'since Monday', 'for a colleague', 'again', 'from home'), ')'), ''));
UPDATE t SET owner = IF(status = 'new' AND u < 0.25 OR status = 'rejected' AND u < 0.5, @nobody, IF(agent_n = 1, @agent1, 1000 + 2 * agent_n)),
    updated = LEAST(@last, DATE_ADD(created, INTERVAL FLOOR(POW(r(id, 15), 3) * 60 * 86400) + 600 SECOND));
INSERT INTO Tickets (id, EffectiveId, Queue, Type, Owner, Subject, InitialPriority, FinalPriority, Priority, TimeWorked, Status, Told, Starts, Started, Due, Resolved, LastUpdatedBy, LastUpdated, Creator, Created)
    SELECT id, id, queue, 'ticket', owner, subject, priority, 0, priority, FLOOR(r(id, 16) * 60), status, IF(replies > 0, updated, '1970-01-01'), '1970-01-01', IF(status = 'new', '1970-01-01', DATE_ADD(created, INTERVAL 300 SECOND)),
        IF(r(id, 17) < 0.15, DATE_ADD(created, INTERVAL 14 DAY), '1970-01-01'), IF(status IN ('resolved', 'rejected', 'deleted'), updated, '1970-01-01'), owner, updated, requestor, created FROM t;
INSERT INTO Principals (id, PrincipalType) SELECT 10000 + 4 * id + role.seq, 'Group' FROM t JOIN seq_0_to_3 role;
INSERT INTO Groups (id, Name, Domain, Instance, Creator, Created, LastUpdatedBy, LastUpdated)
    SELECT 10000 + 4 * id + role.seq, ELT(1 + role.seq, 'AdminCc', 'Cc', 'Owner', 'Requestor'), 'RT::Ticket-Role', id, requestor, created, requestor, created FROM t JOIN seq_0_to_3 role;
CREATE TEMPORARY TABLE rolemember AS
    SELECT 10000 + 4 * id + 3 AS g, requestor AS m FROM t
    UNION ALL SELECT 10000 + 4 * id + 2, owner FROM t
    UNION ALL SELECT 10000 + 4 * id + 1, 2000 + 2 * few(@customers, r(id, 18)) FROM t WHERE r(id, 19) < 0.2;
INSERT IGNORE INTO GroupMembers (GroupId, MemberId, Creator, Created, LastUpdatedBy, LastUpdated) SELECT g, m, 1, @last, 1, @last FROM rolemember;
INSERT INTO CachedGroupMembers (GroupId, MemberId, ImmediateParentId) SELECT 10000 + 4 * id + role.seq, 10000 + 4 * id + role.seq, 10000 + 4 * id + role.seq FROM t JOIN seq_0_to_3 role UNION ALL SELECT g, m, g FROM rolemember;
UPDATE CachedGroupMembers SET Via = id WHERE Via IS NULL;

-- Texts: paragraphs of few sentences, of which each message has some.
CREATE TEMPORARY TABLE sentence AS
    SELECT seq AS id, CONCAT(ELT(1 + FLOOR(r(seq, 21) * 12), 'Since this morning', 'After the last update', 'As we wrote before', 'In our office', 'On the second floor', 'When I try again', 'According to the manual', 'For two weeks', 'With a new password', 'From outside', 'Before the meeting', 'As a first step'), ' ',
        ELT(1 + FLOOR(r(seq, 22) * 10), 'the service', 'the connection', 'my colleague', 'the application', 'the form', 'the server', 'the device', 'the address', 'the report', 'the account'), ' ',
        ELT(1 + FLOOR(r(seq, 23) * 12), 'does not answer', 'shows an error with the number 4711', 'was switched off', 'needs a restart', 'cannot be reached from the other building', 'asks for a password again and again', 'loses what was typed in', 'works only for some of us', 'was ordered but never came', 'stops after about ten minutes', 'has moved to another room', 'should be changed until Friday'), '.') AS text
    FROM seq_1_to_400;
CREATE TEMPORARY TABLE paragraph (PRIMARY KEY (id)) AS
    SELECT p.seq AS id, (SELECT GROUP_CONCAT(s.text ORDER BY s.id SEPARATOR ' ') FROM sentence s WHERE s.id BETWEEN 1 + p.seq * 7 % 380 AND 1 + p.seq * 7 % 380 + few(14, r(p.seq, 24))) AS text FROM seq_0_to_499 p;
CREATE TEMPORARY TABLE paragraph2 LIKE paragraph;
INSERT INTO paragraph2 SELECT * FROM paragraph;

-- Histories: created, answered, changed.
CREATE TEMPORARY TABLE h (id BIGINT AUTO_INCREMENT PRIMARY KEY, ticket INT, n INT, type VARCHAR(20), field VARCHAR(40), old VARCHAR(40), new VARCHAR(40), data VARCHAR(255), creator INT, created DATETIME, KEY (ticket));
SET @first = (SELECT MAX(id) + 100 FROM Transactions);
INSERT INTO h (ticket, n, type, data, creator, created) SELECT id, 0, 'Create', subject, requestor, created FROM t;
INSERT INTO h (ticket, n, type, field, old, new, creator, created) SELECT id, 1, 'Set', 'Owner', @nobody, owner, owner, DATE_ADD(created, INTERVAL 200 SECOND) FROM t WHERE owner <> @nobody;
INSERT INTO h (ticket, n, type, field, old, new, creator, created) SELECT id, 2, 'Status', 'Status', 'new', 'open', @system, DATE_ADD(created, INTERVAL 300 SECOND) FROM t WHERE status <> 'new';
INSERT INTO h (ticket, n, type, data, creator, created)
    SELECT t.id, 10 + s.seq, IF(r(t.id * 100 + s.seq, 31) < 0.25, 'Comment', 'Correspond'), CONCAT('Re: ', subject), IF(s.seq % 2 = 1 AND owner <> @nobody, owner, requestor),
        DATE_ADD(t.created, INTERVAL 400 + FLOOR(TIMESTAMPDIFF(SECOND, t.created, updated) * s.seq / (replies + 1)) SECOND) FROM t JOIN seq_1_to_80 s ON s.seq <= replies;
INSERT INTO h (ticket, n, type, data, creator, created) SELECT ticket, n + 100, 'EmailRecord', CONCAT('<rt-', ticket, '-', n, '@field>'), @system, created FROM h WHERE type IN ('Correspond', 'Create') AND r(ticket * 100 + n, 32) < 0.35;
INSERT INTO h (ticket, n, type, field, old, new, creator, created) SELECT id, 300, 'Status', 'Status', 'open', status, owner, updated FROM t WHERE status IN ('resolved', 'rejected', 'deleted', 'stalled');
INSERT INTO Transactions (id, ObjectType, ObjectId, TimeTaken, Type, Field, OldValue, NewValue, Data, Creator, Created)
    SELECT @first + ROW_NUMBER() OVER (ORDER BY created, ticket, n), 'RT::Ticket', ticket, IF(type = 'Comment', 5, 0), type, field, old, new, data, creator, created FROM h;
INSERT INTO Attachments (TransactionId, Parent, MessageId, Subject, ContentType, ContentEncoding, Content, Headers, Creator, Created)
    SELECT x.id, 0, CONCAT('m', x.id, '@customers.example'), x.Data, 'text/plain', 'none',
        CONCAT('Hello,\n\n', p1.text, '\n\n', p2.text, '\n\n', IF(r(x.id, 43) < 0.3, CONCAT('> ', REPLACE(REPEAT(CONCAT(p1.text, '\n\n', p2.text, '\n'), 1 + FLOOR(4 * POW(r(x.id, 44), 6) * 5)), '\n', '\n> ')), ''), '\nKind regards\n'),
        CONCAT('Received: from mail.customers.example (mail.customers.example [192.0.2.', x.id % 250, '])\n\tby mx.field.example (Postfix) with ESMTPS id ', MD5(x.id), '\nFrom: customer@customers.example\nTo: support@field.example\nDate: Mon, 2 Jun 2025 10:00:00 +0000\nMessage-ID: <m', x.id, '@customers.example>\nMIME-Version: 1.0\nContent-Type: text/plain; charset="utf-8"\nContent-Transfer-Encoding: 8bit\nX-RT-Original-Encoding: utf-8\nSubject: ', x.Data, '\nContent-Length: 1000\n'), x.Creator, x.Created
    FROM Transactions x JOIN paragraph p1 ON p1.id = FLOOR(500 * r(x.id, 41)) JOIN paragraph2 p2 ON p2.id = FLOOR(500 * r(x.id, 42))
    WHERE x.id > @first AND x.Type IN ('Create', 'Correspond', 'Comment') ORDER BY x.id;
-- The mails that went out, and files that came in.
INSERT INTO Attachments (TransactionId, Parent, MessageId, Subject, ContentType, ContentEncoding, Content, Headers, Creator, Created)
    SELECT x.id, 0, x.Data, CONCAT('[field #', x.ObjectId, ']'), 'text/plain', 'none', p1.text, CONCAT('From: support@field.example\nTo: customer@customers.example\nSubject: [field #', x.ObjectId, ']\nRT-Ticket: field #', x.ObjectId, '\nContent-Type: text/plain; charset="utf-8"\n'), x.Creator, x.Created
    FROM Transactions x JOIN paragraph p1 ON p1.id = FLOOR(500 * r(x.id, 45)) WHERE x.id > @first AND x.Type = 'EmailRecord' ORDER BY x.id;
INSERT INTO Attachments (TransactionId, Parent, Filename, ContentType, ContentEncoding, Content, Headers, Creator, Created)
    SELECT x.id, 0, CONCAT('screen-', x.id, '.log'), 'text/x-log', 'none', REPEAT(CONCAT('2025-06-02 10:00:00 ', MD5(x.id), ' request failed with status 503 after 3 tries\n'), 50 + FLOOR(500 * POW(r(x.id, 46), 4))), CONCAT('Content-Type: text/x-log; name="screen-', x.id, '.log"\nContent-Disposition: attachment; filename="screen-', x.id, '.log"\n'), x.Creator, x.Created
    FROM Transactions x WHERE x.id > @first AND x.Type IN ('Create', 'Correspond') AND r(x.id, 47) < 0.12 ORDER BY x.id;

-- Custom fields, links.
SET @site = (SELECT id FROM CustomFields WHERE Name = 'Site'), @asset = (SELECT id FROM CustomFields WHERE Name = 'Asset'), @category = (SELECT id FROM CustomFields WHERE Name = 'Category');
INSERT INTO ObjectCustomFieldValues (CustomField, ObjectType, ObjectId, Content, Creator, Created, LastUpdatedBy, LastUpdated)
    SELECT @site, 'RT::Ticket', id, ELT(few(7, r(id, 51)), 'Headquarters', 'North', 'South', 'Harbour', 'Airport', 'Campus', 'Warehouse'), 1, created, 1, created FROM t WHERE r(id, 52) < 0.8
    UNION ALL SELECT @asset, 'RT::Ticket', id, CONCAT('PC-', 1000 + few(900, r(id, 53))), 1, created, 1, created FROM t WHERE r(id, 54) < 0.35
    UNION ALL SELECT @category, 'RT::Ticket', id, ELT(few(6, r(id, 55)), 'Question', 'Fault', 'Change', 'Access', 'Complaint', 'Other'), 1, created, 1, created FROM t;
INSERT INTO Links (Base, Target, Type, LocalTarget, LocalBase, Creator, Created)
    SELECT CONCAT('fsck.com-rt://field/ticket/', id), CONCAT('fsck.com-rt://field/ticket/', 1 + FLOOR(r(id, 61) * id)), ELT(few(3, r(id, 62)), 'RefersTo', 'DependsOn', 'MemberOf'), 1 + FLOOR(r(id, 61) * id), id, 1, created FROM t WHERE id > 100 AND r(id, 63) < 0.08;
DROP FUNCTION r;
DROP FUNCTION few;
ANALYZE TABLE Tickets, Transactions, Attachments, Groups, GroupMembers, CachedGroupMembers, Principals, Users, ObjectCustomFieldValues, Links;
