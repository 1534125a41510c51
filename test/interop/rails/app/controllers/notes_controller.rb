# frozen_string_literal: true

class NotesController < ApplicationController
  def new; end

  def create
    session[:note] = params.require(:note).permit(:title)[:title]
    redirect_to note_path(1), status: :see_other, notice: "kept"
  end

  def show
    render plain: "#{flash[:notice]}: #{session[:note]}"
  end
end
