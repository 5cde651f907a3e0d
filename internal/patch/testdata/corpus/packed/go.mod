module packed

go 1.25

require (
	github.com/pierrec/lz4 v2.0.5+incompatible
	github.com/pierrec/lz4/v4 v4.1.22
)

replace (
	github.com/pierrec/lz4 => ./lz4
	github.com/pierrec/lz4/v4 => ./lz4v4
)
