# frozen_string_literal: true

# bin/test's last look: no process that its tests started may be left.
#
#   ruby test/support/leftovers.rb PID      PID of bin/test; exit 1 and their list when there are any

require_relative "process_table"

# A leftover belongs to the session of the run, is younger than it, and names the program in its command line. This
# process and its parents are none: their command lines may name the checkout.
def leftovers(run)
  family = ancestors(Process.pid)
  Support::ProcessTable.all.select do |process|
    process.session == run.session && process.started >= run.started &&
      process.command.include?("bontebok") && !family.include?(process.pid)
  end
end

def ancestors(pid)
  entry = Support::ProcessTable.entry(pid)
  entry ? [pid, *ancestors(entry.parent)] : []
end

left = leftovers(Support::ProcessTable.entry(Integer(ARGV.fetch(0))))
left.each { |process| warn "left behind: #{process.pid} #{process.command}" }
exit left.empty?
