# frozen_string_literal: true

require_relative "proc_file"
require_relative "stat_line"

module Bontebok
  # The threads of a process, as /proc shows them. Used by ObservedProcess.
  module ProcessThreads
    # tid: the thread's number. name, state, cpu: see StatLine. kernel: the function of the kernel in which the thread
    # waits; nil: it runs, or this user may not see it.
    Found = Struct.new(:tid, :name, :state, :kernel, :cpu)

    # A process can have any number of threads. The first ones suffice: those of the server are among them.
    MOST = 1_000

    class << self
      # Returns [] if the system does not show the threads.
      def of(pid)
        Dir.children("/proc/#{pid}/task").first(MOST).filter_map { |tid| found(pid, tid) }
      rescue SystemCallError
        []
      end

      # One thread; nil: the process has no such thread, or the system does not show it.
      def found(pid, tid)
        directory = "/proc/#{pid}/task/#{tid}"
        line = StatLine.read("#{directory}/stat")
        Found.new(tid.to_i, line.name, line.state, kernel(directory), line.cpu) if line
      end

      private

      # The file has a function's name, or 0. Compilers add ".constprop.0" and the like.
      def kernel(directory)
        ProcFile.read("#{directory}/wchan")&.slice(/\A([A-Za-z_]\w*)(?:\.[\w.]*)?\z/, 1)
      end
    end
  end
end
