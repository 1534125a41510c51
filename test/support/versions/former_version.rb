# frozen_string_literal: true

require "json"

module Support
  # What the former version of Bontebok sends to other processes of a server. A server of the present version may have
  # such processes, after a deploy, a rollback or `deploy --supervisor`. A server of the former version has sent the
  # values of the file: it had a deploy, `drain`, and `deploy --supervisor` while the former generation left.
  module FormerVersion
    COMMIT = "a164a98a"
    RECORD = JSON.parse(File.read(File.join(__dir__, "former_version.json"))).freeze
    QUESTION = RECORD.fetch("question")
    ANSWER = RECORD.fetch("answer")
    STATE = RECORD.fetch("state").merge("config" => QUESTION.fetch("config")).freeze
    # The types of the record as State has them.
    TYPES = { "Integer" => Integer, "String" => String, "Array" => Array, "Hash" => Hash, "nil" => nil, "true" => true,
              "false" => false }.freeze

    module_function

    # The types of State::TYPES and State::OWN_TYPES.
    def types(name)
      RECORD.fetch(name).transform_values { |types| types.map { |type| TYPES.fetch(type) } }
    end

    # Names each value that the former one has, but not the present one, or with another type. Both are values of JSON.
    # A nil of the former one can be anything.
    def lacking(former, present, name = "it")
      return [] if former.nil?
      return ["#{name} is #{present.inspect}"] unless kind(former) == kind(present)

      case former
      when Hash then former.flat_map { |key, value| lacking(value, present[key], "#{name}.#{key}") }
      when Array then former.each_with_index.flat_map { |value, at| lacking(value, present[at], "#{name}[#{at}]") }
      else []
      end
    end

    def kind(value) = value == false ? TrueClass : value.class
  end
end
