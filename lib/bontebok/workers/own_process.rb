# frozen_string_literal: true

module Bontebok
  # What happens if the application asks this process to end, or has damaged it. Lanes calls this object. This class is
  # for a process that belongs to the server: it pushes :leave to the main thread, which ends the process. For a Server
  # in another program's process, see CallersProcess.
  class OwnProcess
    # events: the SignalQueue of the main thread.
    def initialize(events, log:)
      @events = events
      @log = log
      @failed = false
    end

    # Called before the lanes serve. Ruby runs exit handlers in reverse order, and then kills the threads. So this
    # handler runs before the application's handlers, which may kill threads as well.
    def watch_exit
      at_exit { @exiting = true }
    end

    # True if the exit of this process has begun. A thread that is killed from now on gets no successor.
    def exits? = @exiting

    # True if :leave was pushed for another reason than a successful exit of the application.
    def failed? = @failed

    # Called when the application has raised SystemExit, SignalException or NoMemoryError.
    def asked_to_end(reason)
      @failed = true unless reason.is_a?(SystemExit) && reason.success?
      @events.push(:leave)
      @log.warn("the application ends this process: #{reason.class}")
    end

    # Called when the process must end, because the application has left it in an unknown state.
    def damaged(message, exception = nil)
      @failed = true
      @events.push(:leave)
      @log.error(message, exception)
    end

    # Runs a part of the main thread's loop. Ruby's own handler of INT raises anywhere, although MainThread guards the
    # main thread.
    def outlive
      yield
    rescue SignalException => e
      interrupted(e)
    end

    # Called with an exception that would end the process. A thread of the application has raised it (see MainThread).
    def interrupted(exception)
      return asked_to_end(exception) if exception.is_a?(SystemExit)
      return damaged("SIG#{Signal.signame(exception.signo)} ends this process") if exception.is_a?(SignalException)

      damaged("a thread of the application ends this process", exception)
    end
  end
end
