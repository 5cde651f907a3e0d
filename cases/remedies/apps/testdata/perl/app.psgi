# A PSGI application that takes a moment of CPU.
my $app = sub {
    my $total = 0;
    $total += $_ * $_ for 0 .. 19999;
    return [200, ['Content-Type' => 'text/plain'], ["sum $total\n"]];
};
