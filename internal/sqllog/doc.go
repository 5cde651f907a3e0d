// Package sqllog reads what database servers log about statements, and knows
// enough SQL to sort statements into classes.
//
// In: the bytes of a slow query log or a general log (MariaDB, MySQL), or one
// statement. Out: entries; a statement's fingerprint, and its text with secrets
// masked. It knows no hosts and keeps no state between calls.
package sqllog
