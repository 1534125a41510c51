# frozen_string_literal: true

module Bontebok
  class Children
    # Counts the ends of a master's workers in the totals, and notes why they have ended. If a whole generation ends,
    # one note is for all workers that end as told: notes about failures must stay, and few notes are kept.
    class EndNotes
      # Words of the worker (see Channel), or decisions of its parent: why the worker must end. The values are the
      # reason (TotalNames::ENDS) and the text.
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
      # Why a generation ends: the word that its master has got.
      GENERATION = { drain: "the server stops", quit: "the server stops at once",
                     retire: "another generation or server serves", park: "another generation serves" }.freeze

      def initialize(totals, generation)
        @totals = totals
        @generation = generation
      end

      # Called when the workers are told to end. word: the master's.
      def generation_ends(word, count)
        size = "#{count} worker#{'s' unless count == 1}"
        @totals.note(:end, "generation #{@generation} (#{size}) ends: #{GENERATION[word]}")
      end

      # child: a worker that has ended.
      def ended(child)
        reason, text = describe(child)
        @totals.ended(reason, text && "worker #{child.number} g#{@generation} (pid #{child.pid}): #{text}")
      end

      private

      def describe(child)
        if child.killed? then killed(child)
        elsif early?(child) then ["failed", "#{child.ending}, before it was ready"]
        elsif child.leaving? && as_told?(child) then CAUSES.fetch(child.cause)
        elsif child.ended_by_user? then ["killed", child.ending]
        elsif child.cause == :application then ["application", "the application has ended it: #{child.ending}"]
        else ["crashed", child.ending]
        end
      end

      # The parent has killed the child.
      def killed(child)
        return ["failed", child.fault] unless child.reached?(:ready) || child.hung?
        return ["late", child.fault] unless child.hung? || lost?(child)

        reason, text = CAUSES.fetch(child.cause)
        [reason, [child.hung? ? child.cause : text, child.fault].join(": ")]
      end

      # Nobody has told the child to end, and it was not ready.
      def early?(child)
        !child.reached?(:ready) && (!child.leaving? || lost?(child))
      end

      # The child has run on without a channel.
      def lost?(child) = child.cause == :lost

      # The status is unknown if other code has reaped the child. A child that was told to end while it loaded cannot
      # end with status 0.
      def as_told?(child)
        child.status.nil? || child.status.success? || !child.reached?(:loaded)
      end
    end
  end
end
