# frozen_string_literal: true

require "forwardable"
require_relative "../../system/clock"

module Bontebok
  class Children
    # A worker, as its master sees it. Rules decides what the worker must do. This object says it to the worker's
    # process (a ForkedProcess), and knows three things about the worker. The first is what the worker has done (STEPS):
    #
    #   :started --loaded--> :loaded --prepared--> :prepared --serve--> :told --ready--> :ready
    #
    # Only a worker that must not serve before others is prepared and told (see Rules#together=). Any other becomes
    # ready as soon as it has loaded and was told to go. The second thing is what becomes of the worker (PLACES):
    #
    #               replace               leave               waits
    #     :staying ---------> :replaced ---------> :leaving ---------> :waiting
    #         |                                       ^
    #         +----------------- leave ---------------+
    #
    #   :staying    it serves, or will serve
    #   :replaced   it does the same until its replacement is ready
    #   :leaving    it was told to end, or it must end because it has closed its channel
    #   :waiting    it leaves, and only waits for hijacked connections and streams
    #
    # A worker that leaves continues with its steps until it reads that it must end. In each place, it may be killed and
    # may end (see ForkedProcess). It has a deadline while it boots and while it leaves. It has none while it waits for
    # :go or :serve (see Channel), while it serves, and after it was killed. The third thing is why it ends (CAUSES).
    class Child
      extend Forwardable

      STEPS = %i[started loaded prepared told ready].freeze
      PLACES = {
        staying: { replace: :replaced, leave: :leaving },
        replaced: { leave: :leaving },
        leaving: { waits: :waiting },
        waiting: { waits: :waiting }
      }.freeze
      # Why a worker must end: a word of the worker (see Channel), or a decision of its parent. The values are the
      # reason in the totals (Totals::ENDS), and the text.
      CAUSES = {
        max_requests: ["limit", "max_requests is reached"],
        max_worker_age: ["limit", "max_worker_age is reached"],
        max_worker_memory: ["limit", "max_worker_memory is exceeded"],
        descriptors: ["limit", "no descriptors are left"],
        signal: ["asked", "a signal has asked it to end"],
        application: ["application", "the application has ended it"],
        lost: ["application", "it has closed its channel, or has executed another program"],
        restart: ["asked", "restart-workers"],
        fewer: ["asked", "fewer workers are wanted"],
        request_timeout: ["timeout", "request_timeout: requests hang"],
        worker_timeout: ["hung", "worker_timeout"],
        nil => ["asked", nil]
      }.freeze
      # The words among them.
      WORDS = %i[max_requests max_worker_age max_worker_memory signal application].freeze
      # The causes of a worker in which requests hang, or that does not move.
      HANGS = %i[request_timeout worker_timeout].freeze

      # cause: why the worker must end; nil: its generation ends, or no cause is known.
      attr_reader :number, :cause

      def_delegators :@process, :pid, :channel, :hear, :deaf?, :tell, :check, :ended?, :ending, :status,
                     :ended_by_user?, :deadline, :limit, :overdue?, :kill, :killed?, :fault

      def initialize(number, process)
        @number = number
        @process = process
        @step = :started
        @place = :staying
      end

      # Notes the step that the worker has reported.
      def reached(step)
        @step = step
        @ready_since = Clock.now if step == :ready
        @process.expect_nothing unless leaving?
        @process.loaded
      end

      def reached?(step) = STEPS.index(@step) >= STEPS.index(step)

      def seconds_ready = Clock.now - @ready_since

      # False if another worker is to take this worker's place.
      def staying? = @place == :staying

      def leaving? = %i[leaving waiting].include?(@place)

      def waiting? = @place == :waiting

      def hung? = HANGS.include?(cause)

      # Gives the worker `seconds` to become ready.
      def boot(seconds) = @process.expect(seconds)

      # Tells a loaded worker to serve, or to prepare itself. It must do so within `seconds`.
      def go(seconds)
        tell(:go)
        boot(seconds) unless leaving?
      end

      # Tells a prepared worker to serve, once. The worker must become ready within `seconds`.
      def serve(seconds)
        return if @step != :prepared || leaving?

        @step = :told
        tell(:serve)
        boot(seconds)
      end

      # Notes why the worker must end. Only the first cause counts, unless the worker hangs. Returns the worker.
      def blame(cause)
        @cause = cause if @cause.nil? || HANGS.include?(cause)
        self
      end

      # Another worker takes this worker's place.
      def replace = move(:replace)

      # Tells the worker to finish its requests and to end within `seconds`. A worker that does not serve yet ends at
      # once. how: with :retire, other processes continue to accept connections from the same sockets; with :drain, none
      # does.
      def leave(how, seconds)
        @process.leave(how, seconds) if move(:leave)
      end

      # Tells the worker to end within `seconds`, without finishing its requests.
      def quit(seconds)
        move(:leave)
        @process.leave(:quit, seconds)
      end

      # Retires the worker, with at most `seconds` to end. If the worker is leaving already, a longer deadline is
      # shortened.
      def hurry(seconds)
        leave(:retire, seconds)
        tell(:hurry)
        @process.expect(seconds) if deadline && deadline > Clock.now + seconds
      end

      # Gives a worker that has closed its channel `seconds` to end. It may end already, so it gets no signal before.
      def desert(seconds)
        @process.expect(seconds) if move(:leave)
      end

      # Called when the worker only waits for hijacked connections and streams, at most `seconds`.
      def waits(seconds)
        @process.expect(seconds) if move(:waits)
      end

      # The time at which the worker counts as lost; nil: its channel is open, or it is leaving. A lost worker still
      # runs, but has called exec or closed its channel.
      def lost_at = (@process.lost_at unless leaving?)

      def lost? = !leaving? && @process.lost?

      # The step that the worker has missed, in the words of the log.
      def omission = "did not #{leaving? ? 'end' : 'become ready'} within #{limit} s"

      # Why the worker has ended, for the totals: a reason and a text, as in CAUSES.
      def reason_of_end
        if killed? then reason_of_kill
        elsif early? then ["failed", "#{ending}, before it was ready"]
        elsif leaving? && as_told? then CAUSES.fetch(cause)
        elsif ended_by_user? then ["killed", ending]
        elsif cause == :application then ["application", "the application has ended it: #{ending}"]
        else ["crashed", ending]
        end
      end

      private

      # Its parent has killed it.
      def reason_of_kill
        return ["failed", fault] unless reached?(:ready) || hung?
        return ["late", fault] unless hung? || cause == :lost

        reason, text = CAUSES.fetch(cause)
        [reason, [hung? ? cause : text, fault].join(": ")]
      end

      # Nobody has told it to end, and it was not ready. One that was lost has run on without a channel.
      def early?
        !reached?(:ready) && (!leaving? || cause == :lost)
      end

      # The status is unknown if other code has reaped it. One that was told to end while it loaded cannot end with
      # status 0.
      def as_told?
        status.nil? || status.success? || !reached?(:loaded)
      end

      # Returns nil if the event changes nothing.
      def move(event)
        place = PLACES.fetch(@place)[event]
        @place = place if place
      end
    end
  end
end
