# frozen_string_literal: true

# bin/test's last look: no process that its tests started may be left.
#
#   ruby test/support/leftovers.rb SESSION...      those of the jobs; exit 1 and a list when anything is left of them

require_relative "process_table"

# This process and its parents are none.
def leftovers(sessions)
  family = ancestors(Process.pid)
  Support::ProcessTable.all.select { |process| sessions.include?(process.session) && !family.include?(process.pid) }
end

def ancestors(pid)
  entry = Support::ProcessTable.entry(pid)
  entry ? [pid, *ancestors(entry.parent)] : []
end

left = leftovers(ARGV.map { |session| Integer(session) })
left.each { |process| warn "left behind: #{process.pid} #{process.command}" }
exit left.empty?
