# frozen_string_literal: true

# The last check of bin/test: no process that its tests started may be left.
#
#   ruby test/support/leftovers.rb SESSION...      the jobs' sessions; exit 1 and a list if a process of them is left

require_relative "process_table"

# This process and its ancestors are no leftovers.
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
