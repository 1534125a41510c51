# frozen_string_literal: true

module Bontebok
  # What happens if the application of a Server asks the process to end, or has damaged it. Lanes calls this object in
  # place of an OwnProcess. The process belongs to the program that uses the Server, so this class only logs.
  class CallersProcess
    def initialize(log)
      @log = log
    end

    # Does nothing: an exit handler would stay in the program.
    def watch_exit; end

    # Ruby kills the threads of a process that exits. Before that, Ruby marks the main thread as dead.
    def exits?
      !Thread.main.alive?
    end

    def asked_to_end(reason)
      @log.warn("the application asks this process to end: #{reason.class}; the process continues")
    end

    def damaged(message, exception = nil)
      @log.error(message, exception)
    end
  end
end
