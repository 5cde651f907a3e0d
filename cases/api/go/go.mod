module gameapi

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/pierrec/lz4 v2.0.5+incompatible
	github.com/redis/go-redis/v9 v9.23.0
	google.golang.org/protobuf v1.36.12
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
