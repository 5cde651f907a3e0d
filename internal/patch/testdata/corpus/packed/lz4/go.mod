module github.com/pierrec/lz4

go 1.25
