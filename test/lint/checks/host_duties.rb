# frozen_string_literal: true

require_relative "files"
require_relative "layer_table"

module Lint
  # Checks that each binding does what the public headers of the core demand of a host. A duty is a sentence with one of
  # WORDS in a comment of a header. A text in quotes is no part of the sentence.
  class HostDuties
    WORDS = /\b(?:must|has to|have to)\b/
    QUOTED = /"[^"]*"/
    HEADERS = "core/include/*.h"

    # { duty, or its beginning => [for ext/bontebok, for perl/xs]: [file that fulfils it, text of that file]; or the
    #   functions of the core that bring the duty, if the binding calls none of them }
    PLACES = {
      # Ruby's lock serializes the calls on a worker. A thread of Perl gets no copy of the server.
      "Two threads must not make calls on the same lane" =>
        [["ext/bontebok/rb_lane.c", "a thread serves this lane"], ["perl/xs/Bontebok.xs", "CLONE_SKIP(class)"]],
      "Returns BB_OK; BB_AGAIN: a stalled disk blocks the I/O thread" =>
        [["ext/bontebok/rb_worker.c", "bool freed = worker->pid != getpid() || bb_worker_free(worker->core) == BB_OK"],
         ["perl/xs/bbp_core.c", "if (bb_worker_free(core->worker) == BB_OK) {"]],
      "The caller owns `pub`, which must outlive the worker." =>
        [["ext/bontebok/rb_worker.c", "if (freed && worker->pub) bbr_public_release(worker->pub);"],
         ["perl/xs/bbp_core.c", "bbp_public_release(core->public);"]],
      "The host must end a request before it asks for the next one." =>
        [["ext/bontebok/rb_serve.c", "bb_reply_end(core)"],
         ["perl/xs/bbp_serve.c", "bb_reply_end(core->lane)"]],
      # Methods of Ruby run under Ruby's lock.
      "The calling thread must take the host's global lock for each call" =>
        [["ext/bontebok/rb_worker.c", "bb_worker_beat(face_of(self)->worker->core)"], /\bbb_worker_beat\b/],
      "During the call the host must keep the lane's thread from ending the request." =>
        [["ext/bontebok/rb_lane_time.c", "exchange = limited(lane);"],
         /\bbb_lane_(take_late|take_overdue|remind|extend_time)\b/]
    }.freeze

    def initialize(root)
      @root = root
    end

    def faults
      duties = Dir[File.join(@root, HEADERS)].flat_map { |header| sentences(File.read(header)) }
      duties.select! { |sentence| sentence.gsub(QUOTED, "").match?(WORDS) }
      unknown(duties) + unneeded(duties) + gone + called
    end

    private

    def unknown(duties)
      duties.reject { |duty| PLACES.keys.any? { |known| duty.start_with?(known) } }
            .map { |duty| "PLACES does not say where the bindings do this: #{duty}" }
    end

    def unneeded(duties)
      PLACES.keys.reject { |known| duties.any? { |duty| duty.start_with?(known) } }
            .map { |known| "no header demands: #{known}" }
    end

    def gone
      PLACES.values.flatten(1).grep(Array).reject { |file, text| text_of(file).include?(text) }
            .map { |file, text| "#{file} has no: #{text}" }
    end

    def called
      PLACES.flat_map do |duty, places|
        LayerTable::BINDINGS.zip(places).select { |_, place| place.is_a?(Regexp) }.flat_map do |directory, functions|
          Files.glob(@root, "#{directory}/**/*.{c,xs}").select { |file| text_of(file).match?(functions) }
               .map { |file| "PLACES does not say where #{file} does this: #{duty}" }
        end
      end
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
