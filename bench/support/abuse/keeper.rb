# frozen_string_literal: true

module Bench
  module Abuse
    # A process that kills sessions when the process that made it has closed the keeper, or has ended in any way.
    class Keeper
      SESSION = 3 # index in the fields of /proc/PID/stat after the name, proc(5)

      def initialize
        sessions, @writer = IO.pipe
        @pid = fork do
          Process.setsid
          @writer.close
          kill(sessions.each_line.map(&:to_i))
          exit!
        end
        sessions.close
      end

      # session: the pid of its first process.
      def note(session)
        @writer.write("#{session}\n")
        session
      end

      def close
        @writer.close
        Process.wait(@pid)
      end

      private

      # Again until none is left, because a process can fork while it is killed.
      def kill(sessions)
        while (pids = members(sessions)).any?
          pids.each { |pid| Process.kill(:KILL, pid) }
          sleep 0.05
        end
      rescue Errno::ESRCH
        retry
      end

      # Zombies do not count.
      def members(sessions)
        Dir["/proc/[0-9]*/stat"].filter_map do |file|
          fields = File.read(file).sub(/\A\d+ \(.*\) /m, "").split
          file[/\d+/].to_i if fields[0] != "Z" && sessions.include?(fields[SESSION].to_i)
        rescue Errno::ENOENT, Errno::ESRCH
          nil
        end
      end
    end
  end
end
