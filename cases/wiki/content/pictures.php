<?php
// Pictures without a graphics library: PNG as in its specification
// (https://www.w3.org/TR/png/), 8 bits of red, green and blue per pixel.

/** landscape paints hills under a sky, other ones for each number. */
function landscape( int $number, int $width, int $height ): string {
	mt_srand( $number );
	$rows = '';
	for ( $y = 0; $y < $height; $y++ ) {
		$rows .= "\0"; // filter type 0: none
		for ( $x = 0; $x < $width; $x++ ) {
			$grain = mt_rand( 0, 15 );
			$ridge = $height * ( 0.5 + 0.15 * sin( $x / ( 20 + 3 * $number ) + $number ) + 0.08 * sin( $x / 9 ) );
			$rows .= $y > $ridge
				? chr( 40 + $grain + 5 * $number ) . chr( 110 + $grain ) . chr( 50 + $grain )
				: chr( 120 + $grain ) . chr( 160 + $grain + 4 * $number ) . chr( 220 + $grain );
		}
	}
	return "\x89PNG\r\n\x1a\n" . chunk( 'IHDR', pack( 'NNCCCCC', $width, $height, 8, 2, 0, 0, 0 ) ) .
		chunk( 'IDAT', gzcompress( $rows ) ) . chunk( 'IEND', '' );
}

function chunk( string $type, string $data ): string {
	return pack( 'N', strlen( $data ) ) . $type . $data . pack( 'N', crc32( $type . $data ) );
}
