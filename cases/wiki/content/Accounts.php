<?php
// Makes the accounts that wrote the pages (without passwords, nobody can log in
// as one) and those that the scenario edits with: Accounts.php WRITERS EDITORS.
// Through MediaWiki's own classes.

require_once getenv( 'MW_INSTALL_PATH' ) . '/maintenance/Maintenance.php';

use MediaWiki\MediaWikiServices;

class Accounts extends Maintenance {
	public function __construct() {
		parent::__construct();
		$this->addArg( 'writers', 'How many writers' );
		$this->addArg( 'editors', 'How many editors' );
	}

	public function execute() {
		for ( $n = 1; $n <= (int)$this->getArg( 0 ); $n++ ) {
			$this->make( "執筆者$n" );
		}
		for ( $n = 1; $n <= (int)$this->getArg( 1 ); $n++ ) {
			// Bots, because they are not held back by $wgRateLimits, which counts
			// only where there is an object cache.
			$user = $this->make( "編集者$n" );
			$secret = "henshuu-no-aikotoba-$n";
			$done = $user->changeAuthenticationData( [ 'username' => $user->getName(), 'password' => $secret, 'retype' => $secret ] );
			if ( !$done->isGood() ) {
				$this->fatalError( $done->getMessage( false, false, 'en' )->text() );
			}
			MediaWikiServices::getInstance()->getUserGroupManager()->addUserToGroup( $user, 'bot' );
		}
	}

	private function make( string $name ): User {
		$user = User::createNew( $name );
		if ( !$user ) {
			$this->fatalError( "$name cannot be made; is there one already?" );
		}
		return $user;
	}
}

$maintClass = Accounts::class;
require_once RUN_MAINTENANCE_IF_MAIN;
