<?php
// Older revisions as rows of MediaWiki's own tables, as its version 1.39 writes
// them (https://www.mediawiki.org/wiki/Manual:Database_layout): text, content,
// slots, revision, revision_comment_temp. A revision, its content and its text
// have the same number, below the numbers of what is imported (FIRST_IMPORTED).

require_once '/usr/share/mediawiki/vendor/wikimedia/base-convert/src/Functions.php';

/** importDump's first revision: above all of the history. */
const FIRST_IMPORTED = 100000;

/** writeNames makes the comments and remembers the numbers that rows refer to. */
function writeNames( $sql ): void {
	foreach ( [ 'revision', 'content', 'text' ] as $table ) {
		fwrite( $sql, "ALTER TABLE $table AUTO_INCREMENT = " . FIRST_IMPORTED . ";\n" );
	}
	fwrite( $sql, "SET @model = (SELECT model_id FROM content_models WHERE model_name = 'wikitext');\n" .
		"SET @role = (SELECT role_id FROM slot_roles WHERE role_name = 'main');\n" );
	foreach ( EDITS as $i => $comment ) {
		// As CommentStore::hash: the sum of the text and that of no data, signed.
		$hash = crc32( $comment ) ^ crc32( '' );
		if ( $hash >= 0x80000000 ) {
			$hash -= 0x100000000;
		}
		fwrite( $sql, "INSERT INTO comment (comment_hash, comment_text) VALUES ($hash, '$comment');\nSET @c$i = LAST_INSERT_ID();\n" );
	}
	for ( $n = 1; $n <= WRITERS; $n++ ) {
		fwrite( $sql, "SET @a$n = (SELECT actor_id FROM actor WHERE actor_name = '執筆者$n');\n" );
	}
}

/** writeHistory writes all revisions of a page but the newest; returns the last number given. */
function writeHistory( $sql, Page $page, int $number, int $before ): int {
	$rows = [ 'text' => [], 'content' => [], 'slots' => [], 'revision' => [], 'revision_comment_temp' => [] ];
	$parent = 0;
	for ( $k = 0; $k < $page->revisions - 1; $k++ ) {
		$id = ++$before;
		$text = rtrim( ( $page->text )( $k ) ); // as MediaWiki stores it
		$size = strlen( $text );
		$digest = \Wikimedia\base_convert( sha1( $text ), 16, 36, 31 );
		$time = gmdate( 'YmdHis', madeAt( $page, $number, $k ) );
		$rows['text'][] = "($id, '" . addslashes( $text ) . "', 'utf-8')";
		$rows['content'][] = "($id, $size, '$digest', @model, 'tt:$id')";
		$rows['slots'][] = "($id, @role, $id, $id)";
		$rows['revision'][] = "($id, @page, 0, @a" . writer( $number, $k ) . ", '$time', 0, 0, $size, $parent, '$digest')";
		$rows['revision_comment_temp'][] = "($id, @c" . edit( $number, $k ) . ')';
		$parent = $id;
	}
	if ( !$parent ) {
		return $before;
	}
	$title = preg_replace( '/^(カテゴリ|テンプレート):/u', '', $page->title );
	fwrite( $sql, "SET @page = (SELECT page_id FROM page WHERE page_namespace = $page->ns AND page_title = '$title');\n" );
	foreach ( $rows as $table => $values ) {
		foreach ( array_chunk( $values, 200 ) as $some ) {
			fwrite( $sql, "INSERT INTO $table VALUES " . implode( ",\n", $some ) . ";\n" );
		}
	}
	fwrite( $sql, "UPDATE revision SET rev_parent_id = $parent WHERE rev_page = @page AND rev_id >= " . FIRST_IMPORTED . ";\n" );
	return $before;
}
