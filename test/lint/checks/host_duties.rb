# frozen_string_literal: true

module Lint
  # Checks that the binding does what the public headers of the core demand of a host. A duty is a sentence with one of
  # WORDS in a comment of a header.
  class HostDuties
    WORDS = /\b(?:must|has to|have to)\b/
    HEADERS = "core/include/*.h"

    # { duty, or its beginning => [file that fulfils it, text of that file] }
    PLACES = {
      # Ruby's lock serializes the calls on a worker.
      "Two threads must not make calls on the same lane" => ["ext/bontebok/rb_lane.c", "a thread serves this lane"],
      "Returns BB_OK; BB_AGAIN: a stalled disk blocks the I/O thread" =>
        ["ext/bontebok/rb_worker.c", "bool freed = worker->pid != getpid() || bb_worker_free(worker->core) == BB_OK"],
      "The host must end a request before it asks for the next one." =>
        ["ext/bontebok/rb_serve.c", "bb_reply_end(core) == BB_ESHORT"],
      # Methods of Ruby run under Ruby's lock.
      "The calling thread must take the host's global lock for each call" =>
        ["ext/bontebok/rb_worker.c", "bb_worker_beat(face_of(self)->worker->core)"],
      "During the call the host must keep the lane's thread from ending the request." =>
        ["ext/bontebok/rb_lane_time.c", "exchange = limited(lane);"]
    }.freeze

    def initialize(root)
      @root = root
    end

    def faults
      duties = Dir[File.join(@root, HEADERS)].flat_map { |header| sentences(File.read(header)) }.grep(WORDS)
      unknown(duties) + unneeded(duties) + gone
    end

    private

    def unknown(duties)
      duties.reject { |duty| PLACES.keys.any? { |known| duty.start_with?(known) } }
            .map { |duty| "PLACES does not say where the binding does this: #{duty}" }
    end

    def unneeded(duties)
      PLACES.keys.reject { |known| duties.any? { |duty| duty.start_with?(known) } }
            .map { |known| "no header demands: #{known}" }
    end

    def gone
      PLACES.values.reject { |file, text| text_of(file).include?(text) }.map { |file, text| "#{file} has no: #{text}" }
    end

    def sentences(text)
      text.scan(%r{/\*(.*?)\*/}m).flat_map do |comment,|
        comment.gsub(/\s*\n \*?\s*/, " ").strip.split(/(?<=[.:])\s+(?=[A-Z])/)
      end
    end

    def text_of(file)
      path = File.join(@root, file)
      File.file?(path) ? File.read(path) : ""
    end
  end
end
