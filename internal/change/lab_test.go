package change

import "context"

func stopLab() {}

func victim(context.Context, string) {}
