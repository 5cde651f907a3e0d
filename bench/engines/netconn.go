package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
)

// runNet has a goroutine for each connection: the plain way in Go.
func runNet(j job) (int64, error) {
	var total atomic.Int64
	errs := make([]error, j.conns)
	var wait sync.WaitGroup
	for i := range j.conns {
		wait.Go(func() {
			n, err := converse(j)
			total.Add(n)
			errs[i] = err
		})
	}
	wait.Wait()
	return total.Load(), errors.Join(errs...)
}

// converse sends and receives on one connection until the time is over.
func converse(j job) (int64, error) {
	ctx, stop := context.WithDeadline(context.Background(), j.until)
	defer stop()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", j.address.String())
	if err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	defer c.Close() // nothing is left to be sent
	if err := c.SetDeadline(j.until); err != nil {
		return 0, fmt.Errorf("set the deadline: %w", err)
	}
	ask, buf := request(j.address), make([]byte, bufferSize)
	for n := int64(0); ; n++ {
		if err := exchange(c, ask, buf); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return n, nil
			}
			return n, err
		}
	}
}

func exchange(c net.Conn, ask, buf []byte) error {
	if _, err := c.Write(ask); err != nil {
		return err
	}
	for got := 0; ; {
		n, err := c.Read(buf[got:])
		if err != nil {
			return err
		}
		got += n
		if done, err := complete(buf[:got]); done || err != nil {
			return err
		}
	}
}
