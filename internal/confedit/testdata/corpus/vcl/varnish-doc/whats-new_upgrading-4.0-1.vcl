vcl 4.0;
