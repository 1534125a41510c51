# frozen_string_literal: true

module Runner
  # The process that the caller of a guarded program knows (see Guard).
  class Front
    SIGNALS = %w[INT TERM HUP].freeze
    # Seconds between two looks at the parent.
    LOOK = 0.5

    class << self
      # A signal that is ignored stays ignored.
      def trap_signals
        SIGNALS.each do |name|
          former = trap(name) { yield name }
          trap(name, "IGNORE") if former == "IGNORE"
        end
      end

      # Ends this process like another one, without its exit handlers.
      def leave(status)
        exit!(status.exitstatus) if status.exited?
        name = Signal.signame(status.termsig)
        if SIGNALS.include?(name)
          trap(name, "SYSTEM_DEFAULT")
          Process.kill(name, Process.pid)
        end
        exit!(128 + status.termsig)
      end
    end

    attr_reader :pid

    def initialize
      @pid = Process.pid
      @parent = Process.ppid
    end

    # Never returns. ready: an IO that ends when the guard can take signals. Before, a signal ends only the front, and
    # the guard sees that.
    def stand_before(guard, ready)
      ready.read
      @guard = guard
      Front.trap_signals { |name| pass_on(name) }
      Thread.new { watch }
      Front.leave(Process.wait2(guard).last)
    rescue SignalException => e
      exit!(128 + e.signo)
    end

    private

    def watch
      sleep(LOOK) until Process.ppid != @parent
      pass_on("TERM")
    end

    # The guard and the program get the signal, and the programs in their process group, as from a terminal.
    def pass_on(name)
      Process.kill(name, -@guard)
    rescue Errno::ESRCH
      nil # the guard has ended
    end
  end
end
