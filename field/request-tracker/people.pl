#!/usr/bin/perl
# Queues, groups, rights, custom fields and one agent, by RT's own means, so that
# rows that belong together are RT's. The rest is SQL (fill.sql).
use strict;
use warnings;
use lib '/usr/share/request-tracker5/lib', '/usr/local/share/request-tracker5/lib';
use RT;
RT->LoadConfig;
RT->Init;
my $root = RT->SystemUser;
RT->Config->Set('LogToSyslog', undef);

sub must { my ($ok, $text) = @_; die "people.pl: $text\n" unless $ok; $ok }

my @queues;
for my $name (qw(Support Network Billing Hardware Accounts Mail Facilities Security Purchasing Projects Abuse Archive)) {
    my $q = RT::Queue->new($root);
    must($q->Create(Name => $name, Description => "Requests to $name", CorrespondAddress => lc($name) . '@field.example', CommentAddress => lc($name) . '-comment@field.example'));
    push @queues, $q;
}
my $group = RT::Group->new($root);
must($group->CreateUserDefinedGroup(Name => 'Agents', Description => 'Who answers tickets'));
for my $right (qw(SeeQueue ShowTicket ShowTicketComments ShowOutgoingEmail ReplyToTicket CommentOnTicket CreateTicket ModifyTicket OwnTicket TakeTicket StealTicket Watch ShowScrips ShowTemplate
    SeeCustomField ModifyCustomField ModifySelf ShowSavedSearches LoadSavedSearch CreateSavedSearch EditSavedSearches SeeDashboard SeeGroup SeeGroupDashboard SeeOwnDashboard ModifyOwnDashboard CreateOwnDashboard)) {
    my ($ok, $msg) = $group->PrincipalObj->GrantRight(Right => $right, Object => $RT::System);
    print "people.pl: $right: $msg\n" unless $ok;
}
for my $field (['Site', 'SelectSingle', [qw(Headquarters North South Harbour Airport Campus Warehouse)]], ['Asset', 'FreeformSingle', []], ['Category', 'SelectSingle', [qw(Question Fault Change Access Complaint Other)]]) {
    my $cf = RT::CustomField->new($root);
    must($cf->Create(Name => $field->[0], Type => $field->[1], LookupType => RT::Ticket->CustomFieldLookupType));
    must($cf->AddToObject(RT::Queue->new($root)));
    must($cf->AddValue(Name => $_)) for @{$field->[2]};
}
my $agent = RT::User->new($root);
must($agent->Create(Name => 'agent1', RealName => 'Agent 1', EmailAddress => 'agent1@field.example', Password => 'agent-password', Privileged => 1));
must($group->AddMember($agent->PrincipalId));
