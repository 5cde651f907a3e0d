backend default {
    .host = "localhost";
}
