# frozen_string_literal: true

module Bontebok
  module Status
    # What the function of the kernel in which a thread sleeps (/proc/PID/task/TID/wchan) tells about the thread.
    module KernelWaits
      # Locks, conditions, and Ruby's own lock.
      LOCK = /futex/
      # Waits for sockets, pipes and child processes. Ruby and most libraries release Ruby's lock for these waits.
      OTHERS = /poll|select|wait_woken|sk_wait|skb_wait|accept|unix_|inet_|tcp_|pipe_|\Ado_wait\z/
      private_constant :LOCK, :OTHERS

      class << self
        def asleep?(thread) = %w[S D].include?(thread[:run])
        def runs?(thread) = thread[:run] == "R"

        # It is not known what the thread waits for: this user may not see it, or there was no time to read it.
        def unknown?(thread) = thread[:run].nil? || (thread[:kernel].nil? && !runs?(thread))

        # The thread waits for a lock or a condition.
        def lock?(thread) = thread[:run] == "S" && LOCK.match?(thread[:kernel].to_s)

        # The thread waits for another program, so it has probably released Ruby's lock.
        def others?(thread) = thread[:run] == "S" && OTHERS.match?(thread[:kernel].to_s)

        # "futex_wait_queue 2, hrtimer_nanosleep 1": the most frequent functions of the threads.
        def summary(threads, most: 3)
          tally = threads.map { |thread| thread[:kernel] || "unknown" }.tally.sort_by { |name, count| [-count, name] }
          rest = tally.drop(most).sum(&:last)
          shown = tally.first(most).map { |name, count| threads.size == 1 ? name : "#{name} #{count}" }
          [*shown, *("others #{rest}" if rest.positive?)].join(", ")
        end
      end
    end
  end
end
