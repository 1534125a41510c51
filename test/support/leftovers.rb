# frozen_string_literal: true

# The last check of bin/test: all processes that the tests started must have ended.
#
#   ruby test/support/leftovers.rb SESSION...
#
# SESSION is the session id of a job (a command that bin/test runs). The program lists the processes that are left, and
# exits with 1 if there are any.

require_relative "process_table"

# This process and its ancestors do not count. Nor does a process that is ending: it has no command line any more.
def leftovers(sessions)
  family = ancestors(Process.pid)
  Support::ProcessTable.all.select do |process|
    sessions.include?(process.session) && !family.include?(process.pid) && !process.command.empty?
  end
end

def ancestors(pid)
  entry = Support::ProcessTable.entry(pid)
  entry ? [pid, *ancestors(entry.parent)] : []
end

left = leftovers(ARGV.map { |session| Integer(session) })
left.each { |process| warn "left behind: #{process.pid} #{process.command}" }
exit left.empty?
