#!/bin/bash
# Takes back what visitors wrote, while RT serves: answers, logins, what they
# looked at. As root, on the host.
set -euo pipefail
mariadb rtdb <<'END'
DELETE FROM Transactions WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'Transactions');
DELETE FROM Attachments WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'Attachments');
DELETE FROM Attributes WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'Attributes');
DELETE FROM GroupMembers WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'GroupMembers');
DELETE FROM CachedGroupMembers WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'CachedGroupMembers');
UPDATE Tickets t JOIN field_keep.Tickets k ON k.id = t.id SET t.Status = k.Status, t.Owner = k.Owner, t.Told = k.Told, t.Started = k.Started, t.Resolved = k.Resolved, t.TimeWorked = k.TimeWorked, t.LastUpdated = k.LastUpdated, t.LastUpdatedBy = k.LastUpdatedBy
    WHERE t.LastUpdated <> k.LastUpdated;
DELETE FROM sessions;
END
