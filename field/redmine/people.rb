# Settings, custom fields, projects and one user, by Redmine's own classes, so that
# rows that belong together are Redmine's. The rest is SQL (fill.sql).
Setting.rest_api_enabled = '1'
Setting.host_name = 'redmine.field.example'

admin = User.find_by!(login: 'admin')
admin.password = admin.password_confirmation = 'admin-password'
admin.must_change_passwd = false
admin.save!

trackers = Tracker.sorted.to_a
[
  { name: 'Site', field_format: 'list', possible_values: %w[Headquarters North South Harbour Airport Campus Warehouse], is_filter: true },
  { name: 'Asset', field_format: 'string', is_filter: true, searchable: true },
  { name: 'Severity', field_format: 'list', possible_values: %w[Cosmetic Minor Major Critical], is_filter: true },
].each { |field| IssueCustomField.create!(is_for_all: true, trackers: trackers, **field) }

# In the order of their size. A name in front of the slash is the parent's.
names = ['Platform', 'Platform/Core', 'Webshop', 'Platform/API', 'Mobile', 'Webshop/Checkout', 'Intranet', 'Mobile/Android', 'Mobile/iOS', 'Data',
         'Data/Warehouse', 'Webshop/Search', 'Platform/Builds', 'Support', 'Data/Reports', 'Intranet/Calendar', 'Intranet/Directory', 'Network', 'Network/Offices', 'Billing',
         'Billing/Invoices', 'Billing/Payments', 'Webshop/Catalogue', 'Core/Scheduler', 'Core/Storage', 'Core/Messaging', 'Support/Training', 'Network/Backup', 'Facilities', 'Facilities/Harbour',
         'Facilities/Campus', 'Purchasing', 'Marketing', 'Marketing/Website', 'Marketing/Events', 'Research', 'Research/Speech', 'Research/Vision', 'Archive', 'Sandbox']
names.each_with_index do |path, i|
  parent, name = path.include?('/') ? path.split('/') : [nil, path]
  project = Project.new(name: name, identifier: name.downcase, is_public: i % 7 != 5,
                        description: "What is to be done for *#{name}*, and who does it. The [[Wiki]] says how.\n\n* plans are in the roadmap\n* faults go to the issue list")
  project.parent_id = Project.find_by!(name: parent).id if parent
  project.save!
end

user = User.new(login: 'user1', firstname: 'Anna', lastname: 'Adams', mail: 'user1@field.example', language: 'en')
user.password = user.password_confirmation = 'visitor-password'
user.save!
user.pref.save!
