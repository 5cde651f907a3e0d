-- What Zabbix' server would have written for 120 hosts: values of the last day at
-- most, by the minute for few items and rarer for most, hourly trends of ninety
-- days, and problems, most of them over. All of it lies relative to now, and goes on
-- for some hours, so that a play does not run out of values.
SET SESSION unique_checks = 0, foreign_key_checks = 0;
SET @now = UNIX_TIMESTAMP() DIV 60 * 60;
CREATE TEMPORARY TABLE it (PRIMARY KEY (itemid)) AS
    SELECT i.itemid, i.value_type, ROW_NUMBER() OVER (PARTITION BY i.value_type ORDER BY MD5(i.itemid)) AS n, CONV(LEFT(MD5(i.itemid), 6), 16, 10) / 16777216 AS u
    FROM items i JOIN hosts h ON h.hostid = i.hostid WHERE h.host LIKE 'server-%' AND i.flags = 0 AND i.value_type IN (0, 3);
UPDATE items i JOIN hosts h ON h.hostid = i.hostid SET i.status = 0 WHERE h.host LIKE 'server-%';
-- Few items have many values: 60 s between values at best, 20 minutes at most.
INSERT INTO history (itemid, clock, value, ns)
    SELECT itemid, @now + 10800 - s.seq * (60 + 60 * FLOOR(20 * SQRT(u))), 50 + 40 * SIN(s.seq / 9 + u * 6) + 8 * u, 0 FROM it JOIN seq_1_to_150 s WHERE value_type = 0;
INSERT INTO history_uint (itemid, clock, value, ns)
    SELECT itemid, @now + 10800 - s.seq * (60 + 60 * FLOOR(20 * SQRT(u))), FLOOR(1000000 * (1 + u) + 50000 * SIN(s.seq / 7)), 0 FROM it JOIN seq_1_to_150 s WHERE value_type = 3;
INSERT INTO trends (itemid, clock, num, value_min, value_avg, value_max)
    SELECT itemid, @now DIV 3600 * 3600 - s.seq * 3600, 60, 10 * u, 50 + 10 * SIN(s.seq), 90 FROM it JOIN seq_1_to_190 s WHERE value_type = 0;
INSERT INTO trends_uint (itemid, clock, num, value_min, value_avg, value_max)
    SELECT itemid, @now DIV 3600 * 3600 - s.seq * 3600, 60, 100, 1000, 5000 FROM it JOIN seq_1_to_80 s WHERE value_type = 3;

-- Problems: 20,000 that are over, 900 that are not.
CREATE TEMPORARY TABLE tr AS
    SELECT t.triggerid, t.priority, t.description, ROW_NUMBER() OVER (ORDER BY MD5(t.triggerid)) - 1 AS n FROM triggers t
    WHERE t.flags = 0 AND EXISTS (SELECT 1 FROM functions f JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid WHERE f.triggerid = t.triggerid AND h.host LIKE 'server-%');
ALTER TABLE tr ADD KEY (n);
SET @triggers = (SELECT COUNT(*) FROM tr);
CREATE TEMPORARY TABLE p (PRIMARY KEY (n)) AS
    SELECT s.seq AS n, FLOOR(POW(CONV(LEFT(MD5(s.seq), 6), 16, 10) / 16777216, 2) * @triggers) AS tn, @now - FLOOR(CONV(LEFT(MD5(s.seq + 7), 6), 16, 10) / 16777216 * 30 * 86400) AS clock FROM seq_1_to_20900 s;
INSERT INTO events (eventid, source, object, objectid, clock, value, ns, name, severity)
    SELECT p.n * 2, 0, 0, tr.triggerid, p.clock, 1, p.n, tr.description, tr.priority FROM p JOIN tr ON tr.n = p.tn
    UNION ALL SELECT p.n * 2 + 1, 0, 0, tr.triggerid, p.clock + 600, 0, p.n, tr.description, 0 FROM p JOIN tr ON tr.n = p.tn WHERE p.n > 900;
INSERT INTO problem (eventid, source, object, objectid, clock, ns, r_eventid, r_clock, name, severity)
    SELECT p.n * 2, 0, 0, tr.triggerid, p.clock, p.n, IF(p.n > 900, p.n * 2 + 1, NULL), IF(p.n > 900, p.clock + 600, 0), tr.description, tr.priority FROM p JOIN tr ON tr.n = p.tn;
INSERT INTO event_recovery (eventid, r_eventid) SELECT n * 2, n * 2 + 1 FROM p WHERE n > 900;
INSERT INTO event_tag (eventtagid, eventid, tag, value) SELECT n, n * 2, ELT(1 + n % 4, 'scope', 'component', 'site', 'team'), ELT(1 + n % 5, 'performance', 'memory', 'cpu', 'storage', 'network') FROM p;
INSERT INTO problem_tag (problemtagid, eventid, tag, value) SELECT n, n * 2, ELT(1 + n % 4, 'scope', 'component', 'site', 'team'), ELT(1 + n % 5, 'performance', 'memory', 'cpu', 'storage', 'network') FROM p;
UPDATE triggers t JOIN tr ON tr.triggerid = t.triggerid JOIN p ON p.tn = tr.n SET t.value = 1, t.lastchange = p.clock WHERE p.n <= 900;
ANALYZE TABLE history, history_uint, trends, trends_uint, events, problem, event_recovery, event_tag, problem_tag, items, triggers, functions, hosts;
