<?php
// Writes the wiki's content, generate.php FOLDER: pages.xml, each page's newest
// revision for MediaWiki's importDump; history.sql, all the older revisions,
// which importDump would take most of an hour of a busy machine for; pictures.
// The output depends on nothing but these files.

require_once __DIR__ . '/texts.php';
require_once __DIR__ . '/history.php';
require_once __DIR__ . '/pictures.php';

/** The first and the last edit, seconds since 1970: 2019-01-01 to 2024-12-31 UTC. */
const BEGIN = 1546300800, END = 1735603200;
/** The page with a long history: as many revisions as an old wiki's main topic. */
const BUSY = '東京の歴史', BUSY_REVISIONS = 3000;
/** A small wiki (KASOKU_WIKI_SIZE) has this part of a page's older revisions. */
const SMALL = 8;
/** How many writers the revisions are divided among, and pages for edits. */
const WRITERS = 60, SANDBOXES = 40;

/** One page: its title, namespace, number of revisions, and text of each. */
class Page {
	public function __construct(
		public string $title, public int $ns, public int $revisions, public Closure $text
	) {
		if ( getenv( 'KASOKU_WIKI_SIZE' ) === 'small' ) {
			$this->revisions = (int)ceil( $revisions / SMALL );
		}
	}
}

/** @return Page[] */
function pages(): array {
	$pages = [ new Page( 'メインページ', 0, 40, static fn ( $k ) => frontPage() . "<!-- $k -->" ) ];
	foreach ( templates() as $title => $text ) {
		$pages[] = new Page( $title, 10, 5, static fn ( $k ) => $text . "<noinclude><!-- $k --></noinclude>" );
	}
	foreach ( [ '日本の年表' => 400, '街道の年表' => 240, '海の年表' => 160 ] as $title => $rows ) {
		$pages[] = new Page( $title, 0, 4, static fn ( $k ) => chronicle( $title, $k, $rows ) );
	}
	foreach ( PREFECTURES as $i => $prefecture ) {
		foreach ( TOPICS as $j => $topic ) {
			$title = "{$prefecture}の{$topic}";
			// Most pages have 32 to 47 revisions, some 250.
			$revisions = $title === BUSY ? BUSY_REVISIONS : ( ( $i * 8 + $j ) % 37 === 5 ? 250 : 32 + ( $i * 5 + $j * 3 ) % 16 );
			$sections = $revisions > 100 ? 4 : 3 + ( $i + $j ) % 5;
			$pages[] = new Page( $title, 0, $revisions,
				static fn ( $k ) => article( $title, $prefecture, $topic, $k, $sections, 3 + $i % 4 ) );
		}
	}
	foreach ( [ ...TOPICS, ...PREFECTURES, '年表' ] as $category ) {
		$pages[] = new Page( "カテゴリ:$category", 14, 1, static fn ( $k ) => "{$category}に関する項目。\n" );
	}
	for ( $n = 1; $n <= SANDBOXES; $n++ ) {
		$pages[] = new Page( "砂場$n", 0, 2, static fn ( $k ) => "この頁は{{PAGENAME}}。自由に編集できる。\n\n" .
			section( "砂場$n", 0, $k, 8 ) . "[[カテゴリ:年表]]\n" );
	}
	return $pages;
}

/** when revision $k of a page was made: at even intervals, each page's a little apart from the others'. */
function madeAt( Page $page, int $number, int $k ): int {
	$share = ( $k + fmod( $number * 0.6180339887, 1 ) ) / $page->revisions;
	return BEGIN + (int)( $share * ( END - BEGIN ) );
}

function writer( int $number, int $k ): int {
	return ( $number * 7 + $k * 13 + intdiv( $k, 5 ) ) % WRITERS + 1;
}

function edit( int $number, int $k ): int {
	return ( $number + $k * 5 ) % count( EDITS );
}

/** writeLatest writes a page with its newest revision as an XML dump does. */
function writeLatest( $out, Page $page, int $number ): void {
	$k = $page->revisions - 1;
	$text = htmlspecialchars( ( $page->text )( $k ), ENT_XML1 | ENT_NOQUOTES );
	fwrite( $out, "<page><title>$page->title</title><ns>$page->ns</ns>\n<revision><timestamp>" .
		gmdate( 'Y-m-d\TH:i:s\Z', madeAt( $page, $number, $k ) ) .
		'</timestamp><contributor><username>執筆者' . writer( $number, $k ) . '</username></contributor>' .
		'<comment>' . EDITS[edit( $number, $k )] . '</comment><model>wikitext</model><format>text/x-wiki</format>' .
		"<text xml:space=\"preserve\">$text</text></revision></page>\n" );
}

function main( array $args ): void {
	$folder = $args[1];
	$xml = fopen( "$folder/pages.xml", 'w' );
	$sql = fopen( "$folder/history.sql", 'w' );
	fwrite( $xml, "<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.11/\" version=\"0.11\" xml:lang=\"ja\">\n" );
	writeNames( $sql );
	$before = $revisions = 0;
	foreach ( pages() as $number => $page ) {
		writeLatest( $xml, $page, $number );
		$before = writeHistory( $sql, $page, $number, $before );
		$revisions += $page->revisions;
	}
	fwrite( $xml, "</mediawiki>\n" );
	for ( $n = 1; $n <= 12; $n++ ) {
		file_put_contents( "$folder/Fuukei$n.png", landscape( $n, 320, 200 ) );
	}
	echo count( pages() ), " pages, $revisions revisions\n";
}

main( $argv );
